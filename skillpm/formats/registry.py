"""The registry, the generated `skills.json` of a skills directory, read by loaders and renderers.

An entry is a plain dict with typed keys, not a `Value`: ten thousand skills must be listed at once.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any, TypedDict, cast

from skillpm.core.json_text.decoder import CONFLICT_MARKER, load_json
from skillpm.core.names import NAME_PATTERN, path_problem
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError

SCHEMA = "urn:skillpm:schema:registry:1"
FORMAT = "1"
MERGE_CONFLICT_MESSAGE = "unresolved merge conflict; `skillpm registry build` regenerates it"


class RegistryEntry(TypedDict, total=False):
    """One skill as loaders see it. The first five keys are always present, the others only if not empty."""

    name: str
    category: str
    description: str
    triggers: list[str]
    filePath: str
    declaredName: str
    version: str
    license: str
    compatibility: str
    homepage: str
    author: str
    tags: list[str]
    requires: list[str]
    needs: Mapping[str, list[str]]
    allowedTools: list[str]
    userOnly: bool
    mcpServers: Mapping[str, Any]
    metadata: Mapping[str, Any]
    dependencies: Mapping[str, Any]
    digest: str
    source: str
    tokens: int


REQUIRED_KEYS = ("name", "category", "description", "triggers", "filePath")
KEY_ORDER = tuple(RegistryEntry.__annotations__)
LIST_KEYS = ("triggers", "tags", "requires", "allowedTools")
# The type of each key, so that loaders need not check.
KEY_TYPES: Mapping[str, type] = {
    **dict.fromkeys(KEY_ORDER, str),
    **dict.fromkeys(LIST_KEYS, list),
    **dict.fromkeys(("needs", "mcpServers", "metadata", "dependencies"), dict),
    "userOnly": bool,
    "tokens": int,
}


def normalize_entry(entry: RegistryEntry) -> RegistryEntry:
    """Return an entry with its keys in the order of the document, without empty ones."""
    return cast("RegistryEntry", {key: value for key in KEY_ORDER if (value := entry.get(key)) or key in REQUIRED_KEYS})


def write_registry(entries: Iterable[RegistryEntry], disabled: Iterable[str] = ()) -> str:
    """Return the text of a registry, sorted by name; equal content has equal bytes.

    One line for each skill: a changed skill is one line of a diff, and ten thousand take a quarter of the time that
    `json` takes to indent them.
    """
    encode = json.JSONEncoder(ensure_ascii=False).encode
    lines = ",\n".join(f"    {encode(entry)}" for entry in sorted(entries, key=lambda entry: entry["name"]))
    skills = f"[\n{lines}\n  ]" if lines else "[]"
    head = f'{{\n  "$schema": "{SCHEMA}",\n  "version": "{FORMAT}",\n  "skills": {skills},\n'
    return f'{head}  "disabled": {encode(sorted(disabled))}\n}}\n'


def read_registry(text: str, file: str) -> tuple[dict[str, RegistryEntry], tuple[str, ...]]:
    """Parse a registry; return its entries by name, and the names of disabled skills.

    Raises `DocumentError` if it is invalid; the registry can be rebuilt then.
    """
    try:
        top = load_json(text)
        if top["version"] != FORMAT:
            number = sanitize(str(top["version"]), 20)
            raise DocumentError(
                f"unsupported registry format {number}; this version of skillpm reads {FORMAT}",
                where=file,
                hint="run `skillpm registry build`",
            )
        entries = {entry["name"]: entry for entry in top["skills"]}
        disabled = top.get("disabled", [])
        is_valid = isinstance(disabled, list) and all(isinstance(name, str) for name in disabled)
        if is_valid and _have_valid_types(entries.values()) and all(map(_has_valid_path, entries.values())):
            return entries, tuple(disabled)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        if has_conflict_markers(text):
            raise DocumentError(MERGE_CONFLICT_MESSAGE, where=file) from None
    raise DocumentError("not a valid registry", where=file, hint="run `skillpm registry build`")


def has_conflict_markers(text: str) -> bool:
    """Return whether a registry has git's conflict markers."""
    return CONFLICT_MARKER.search(text) is not None


def _have_valid_types(entries: Collection[dict[str, Any]]) -> bool:
    """Return whether all values have the type of their key."""
    # By column rather than by entry, so that the inner loops run in C: there may be ten thousand entries.
    columns = {key: [entry[key] for entry in entries if key in entry] for key in KEY_ORDER}
    lists = [words for key in LIST_KEYS for words in columns[key]]
    lists += [words for needs in columns["needs"] for words in needs.values()]
    lists += [server.get("args", []) for servers in columns["mcpServers"] for server in servers.values()]
    return (
        all({*map(type, column)} <= {KEY_TYPES[key]} for key, column in columns.items())
        and all(len(columns[key]) == len(entries) for key in REQUIRED_KEYS)
        and {*map(type, lists)} <= {list}
        and {*map(type, chain.from_iterable(lists))} <= {str}
    )


def _has_valid_path(entry: dict[str, Any]) -> bool:
    name, path = entry["name"], entry["filePath"]
    # The cheap check first, for ten thousand entries. The folder of a local skill may have any name.
    if path == f"{name}/SKILL.md" and (NAME_PATTERN.fullmatch(name) or _is_folder_name(name)):
        return True
    return not path_problem(path)


def _is_folder_name(name: str) -> bool:
    return not {"/", "\0"} & {*name} and not {"", ".", ".."} & {*name.split("\\")}
