"""`skills.json` as people wrote it by hand, before skillpm generated it: what it tells of flat files, by their path.

Its entries have `name`, `category`, `description`, `triggers` and `filePath`, some of them `version`, `requires` and
`userOnly`; each may be missing or wrong. Somebody else may have written it, so a path that leads out of its folder, or
anything that is not text, counts for nothing.
"""

import re
from collections.abc import Mapping
from typing import Any

from skillpm.core.coercion import triggers_of
from skillpm.core.decoder import parse_json
from skillpm.core.names import SKILL_FILE, SKILL_FILES, path_fault
from skillpm.core.system_requirements import Requires, requires_of
from skillpm.core.text import HIDDEN, one_line, show
from skillpm.core.values import NOTHING, Value
from skillpm.errors import ConflictError
from skillpm.formats.legacy_metadata import joined
from skillpm.formats.manifest import document_kind

GENERATED = '"$schema": "urn:skillpm:schema:registry:'
# Names of Markdown files that are no skills, unless an old registry says so.
ABOUT_A_FOLDER = re.compile(
    r"(readme|changelog|licen[cs]e|copying|contributing|code[_-]of[_-]conduct)([._-][a-z]{2}([_-][a-z]{2,4})?)?",
    re.IGNORECASE,
)
LONGEST_DESCRIPTION = 1024  # Agent Skills specification, "description"
LONGEST_WORD = 100
MOST_TRIGGERS = 100
USERS_ONLY = "disable-model-invocation"  # as frontmatter has it
TRUE = frozenset(["true", "yes", "on"])
SAYS_WHICH = frozenset(["name", "filePath"])  # what finds the file; nothing of it is lost


class Left(Value):
    """Something that is left as it is, and why."""

    path: str
    why: str


class Told(Value):
    """What an old registry tells of one file, made fit to be shown and written. `lost`: keys of the entry at `where`
    that say something of which nothing is kept. `is_named`: the entry has a filePath, and the file is not guessed.
    """

    name: str = ""
    description: str = ""
    category: str = ""
    triggers: tuple[str, ...] = ()
    version: str = ""
    requires: Requires = Requires()
    user_only: bool = False
    lost: tuple[str, ...] = ()
    where: str = ""
    is_named: bool = True


class OldRegistry(Value):
    """What is told, by path relative to the registry's folder; `left` are entries that say nothing usable.

    `is_past`: it was replaced before, so much of what it names was moved since.
    """

    told: Mapping[str, Told] = NOTHING
    left: tuple[Left, ...] = ()
    is_past: bool = False


def is_generated(text: str) -> bool:
    """Tell whether a registry was written by skillpm: then nothing in it is anybody's own work."""
    return GENERATED in text[:200]


def read_old_registry(text: str, file: str) -> OldRegistry:
    """Read a hand-made registry. Raises `DocumentError` for what is not JSON, `ConflictError` for what is none."""
    top = parse_json(text.removeprefix("\ufeff"), file)
    kind = document_kind(top)
    if isinstance(top.value, list) and any(isinstance(entry, dict) and SAYS_WHICH & {*entry} for entry in top.value):
        hint = 'write `{"skills": ` before the list and `}` behind it'
        raise ConflictError("the skills.json in this folder is a bare list of skills", where=file, hint=hint)
    if kind != "registry":
        whose = "is the manifest of a project" if kind == "manifest" else "belongs to another tool"
        hint = "name the folder that holds the skills" if kind == "manifest" else "move it away first"
        raise ConflictError(f"the skills.json in this folder {whose}", where=file, hint=hint)
    told: dict[str, Told] = {}
    left = []
    for number, node in enumerate(top.need("skills").elements()):
        entry = node.value
        path, why = _path_of(entry) if isinstance(entry, dict) else ("", "it is no object with a name and a filePath")
        if not why and path in told:
            why = "an entry before it tells of the same file"
        where = f"skills.json: skills.{number}"
        if why:
            left.append(Left(path=where, why=why))
        else:
            told[path] = _told(entry, where)
    return OldRegistry(told=told, left=tuple(left))


def _path_of(entry: dict[str, Any]) -> tuple[str, str]:
    """Give the path an entry tells of, or what is wrong with it."""
    path, name, category = entry.get("filePath"), entry.get("name"), entry.get("category")
    if path is None and isinstance(name, str):
        path = f"{category}/{name}.md" if isinstance(category, str) and category else f"{name}.md"
    if not isinstance(path, str):
        return "", "it names no file"
    parts = path.replace("\\", "/").split("/")
    plain = "/".join(SKILL_FILE if part in SKILL_FILES else part for part in parts if part != ".")
    fault = path_fault(plain)
    return plain, f"its filePath '{show(path, 80)}' {fault}" if fault else ""


def _told(entry: dict[str, Any], where: str) -> Told:
    triggers = (_clean(word, LONGEST_WORD) for word in _triggers(entry))
    facts: dict[str, Any] = {
        "name": _clean(entry.get("name"), LONGEST_WORD),
        "description": _clean(entry.get("description"), LONGEST_DESCRIPTION),
        "category": _clean(entry.get("category"), LONGEST_WORD),
        "triggers": tuple(dict.fromkeys(word for word in triggers if word))[:MOST_TRIGGERS],
        "version": _clean(entry.get("version"), LONGEST_WORD),
        "requires": _requires(entry),
        "user_only": is_for_users_only(entry),
    }
    kept = {key for key, value in facts.items() if value and value != Requires()}
    kept |= SAYS_WHICH | ({"trigger"} if facts["triggers"] else set())
    kept |= {"userOnly", USERS_ONLY} if facts["user_only"] else set()
    kept |= {"needs"} if "requires" in kept else set()
    lost = sorted(_clean(key, LONGEST_WORD) for key, value in entry.items() if value and key not in kept)
    return Told(**facts, lost=tuple(lost), where=where, is_named=entry.get("filePath") is not None)


def _triggers(entry: dict[str, Any]) -> tuple[str, ...]:
    return triggers_of(entry.get("triggers")) or triggers_of(entry.get("trigger"), "|,")


def _requires(entry: dict[str, Any]) -> Requires:
    """Give what is needed: `needs` has, as in a registry of ours, what `requires` there cannot say."""
    found = joined(*(requires_of(entry.get(key), NOTHING) for key in ("requires", "needs")))
    return Requires(**{kind: _words(words) for kind, words in found.__dict__.items()})


def _words(words: tuple[str, ...]) -> tuple[str, ...]:
    clean = (_clean(word, LONGEST_DESCRIPTION) for word in words)
    return tuple(dict.fromkeys(word for word in clean if word))[:MOST_TRIGGERS]


def is_for_users_only(entry: dict[str, Any]) -> bool:
    """Tell whether an entry keeps its skill from models, in either of the two ways that are met."""
    return any(_is_true(entry.get(key)) for key in ("userOnly", USERS_ONLY))


def _is_true(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.strip().casefold() in TRUE)


def _clean(value: Any, limit: int) -> str:
    """Give text on one line, with nothing hidden in it."""
    return HIDDEN.sub("", one_line(value))[:limit].strip() if isinstance(value, str) else ""
