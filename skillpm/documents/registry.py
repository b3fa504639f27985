"""`skills.json` of a skills directory: the registry, generated, read by loaders and renderers.

Ten thousand skills must be listed at once, so an entry stays the JSON object it is, with its keys typed.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, cast

from skillpm.documents.decode import dump_json
from skillpm.documents.names import path_fault
from skillpm.errors import DocumentError

SCHEMA = "urn:skillpm:schema:registry:1"
FORMAT = "1"


class RegistryEntry(TypedDict, total=False):
    """One skill as loaders see it. The first five keys are always there, the others only when not empty."""

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
    allowedTools: list[str]
    mcpServers: Mapping[str, Any]
    metadata: Mapping[str, Any]
    dependencies: Mapping[str, Any]
    digest: str
    source: str
    tokens: int


ALWAYS = ("name", "category", "description", "triggers", "filePath")
ORDER = tuple(RegistryEntry.__annotations__)


def tidy(entry: RegistryEntry) -> RegistryEntry:
    """Give an entry with its keys in the document's order and empty ones left out."""
    return cast("RegistryEntry", {key: value for key in ORDER if (value := entry.get(key)) or key in ALWAYS})


def write_registry(entries: Iterable[RegistryEntry], disabled: Iterable[str] = ()) -> str:
    """Write a registry: sorted by name, the same content always the same bytes."""
    skills = sorted(entries, key=lambda entry: entry["name"])
    return dump_json({"$schema": SCHEMA, "version": FORMAT, "skills": skills, "disabled": sorted(disabled)})


def read_registry(text: str, file: str) -> tuple[dict[str, RegistryEntry], tuple[str, ...]]:
    """Read a registry that this tool wrote: entries by name, and the disabled names.

    Raises `DocumentError` when it is none; whoever asks can build it anew.
    """
    try:
        top = json.loads(text)
        if top["version"] != FORMAT:
            raise DocumentError(f"this registry is format {top['version']!r}, known is {FORMAT!r}", where=file)
        entries = {entry["name"]: entry for entry in top["skills"]}
        if all(_is_sound(entry) for entry in entries.values()):
            return entries, tuple(top.get("disabled", ()))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise DocumentError("this is no registry", where=file, hint="run `skillpm registry build`")


def _is_sound(entry: Any) -> bool:
    path = entry["filePath"]
    return (
        isinstance(path, str)
        and isinstance(entry["name"], str)
        and isinstance(entry["description"], str)
        and (path == f"{entry['name']}/SKILL.md" or not path_fault(path))
    )
