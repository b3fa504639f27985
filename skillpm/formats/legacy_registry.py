"""`skills.json` as people wrote it by hand, before skillpm generated it: what it tells of flat files, by their path.

Its entries have `name`, `category`, `description`, `triggers` and `filePath`, some of them `version`, `requires` and
`userOnly`; each may be missing or wrong. Somebody else may have written it, so a path that leads out of its folder, or
anything that is not text, counts for nothing.
"""

import re
from collections.abc import Mapping
from typing import Any

from skillpm.core.coercion import to_triggers
from skillpm.core.decoder import parse_json
from skillpm.core.names import SKILL_FILE, SKILL_FILES, path_problem
from skillpm.core.system_requirements import SystemRequirements, read_system_requirements
from skillpm.core.text import HIDDEN, one_line, sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import ConflictError
from skillpm.formats.legacy_metadata import merge_requirements
from skillpm.formats.manifest import document_kind

GENERATED_MARKER = '"$schema": "urn:skillpm:schema:registry:'
# Names of Markdown files that are no skills, unless an old registry says so.
NON_SKILL_NAME = re.compile(
    r"(readme|changelog|licen[cs]e|copying|contributing|code[_-]of[_-]conduct)([._-][a-z]{2}([_-][a-z]{2,4})?)?",
    re.IGNORECASE,
)
MAX_DESCRIPTION_LENGTH = 1024  # Agent Skills specification, "description"
MAX_WORD_LENGTH = 100
MAX_TRIGGERS = 100
USER_ONLY_KEY = "disable-model-invocation"  # as frontmatter has it
TRUE_WORDS = frozenset(["true", "yes", "on"])
LOCATOR_KEYS = frozenset(["name", "filePath"])  # what finds the file; nothing of it is lost


class IgnoredEntry(Value):
    """Something that is left as it is, and why."""

    path: str
    reason: str


class LegacyEntry(Value):
    """What an old registry tells of one file, made fit to be shown and written. `lost`: keys of the entry at `where`
    that say something of which nothing is kept. `is_named`: the entry has a filePath, and the file is not guessed.
    """

    name: str = ""
    description: str = ""
    category: str = ""
    triggers: tuple[str, ...] = ()
    version: str = ""
    requires: SystemRequirements = SystemRequirements()
    user_only: bool = False
    dropped_keys: tuple[str, ...] = ()
    where: str = ""
    has_file_path: bool = True


class LegacyRegistry(Value):
    """What is told, by path relative to the registry's folder; `left` are entries that say nothing usable.

    `is_past`: it was replaced before, so much of what it names was moved since.
    """

    entries: Mapping[str, LegacyEntry] = EMPTY_MAPPING
    ignored: tuple[IgnoredEntry, ...] = ()
    is_past: bool = False


def is_generated(text: str) -> bool:
    """Tell whether a registry was written by skillpm: then nothing in it is anybody's own work."""
    return GENERATED_MARKER in text[:200]


def read_legacy_registry(text: str, file: str) -> LegacyRegistry:
    """Read a hand-made registry. Raises `DocumentError` for what is not JSON, `ConflictError` for what is none."""
    top = parse_json(text.removeprefix("\ufeff"), file)
    kind = document_kind(top)
    if isinstance(top.value, list) and any(isinstance(entry, dict) and LOCATOR_KEYS & {*entry} for entry in top.value):
        hint = 'write `{"skills": ` before the list and `}` behind it'
        raise ConflictError("the skills.json in this folder is a bare list of skills", where=file, hint=hint)
    if kind != "registry":
        whose = "is the manifest of a project" if kind == "manifest" else "belongs to another tool"
        hint = "name the folder that holds the skills" if kind == "manifest" else "move it away first"
        raise ConflictError(f"the skills.json in this folder {whose}", where=file, hint=hint)
    told: dict[str, LegacyEntry] = {}
    left = []
    for number, node in enumerate(top.require("skills").elements()):
        entry = node.value
        path, why = (
            _entry_path(entry) if isinstance(entry, dict) else ("", "it is no object with a name and a filePath")
        )
        if not why and path in told:
            why = "an entry before it tells of the same file"
        where = f"skills.json: skills.{number}"
        if why:
            left.append(IgnoredEntry(path=where, reason=why))
        else:
            told[path] = _read_entry(entry, where)
    return LegacyRegistry(entries=told, ignored=tuple(left))


def _entry_path(entry: dict[str, Any]) -> tuple[str, str]:
    """Give the path an entry tells of, or what is wrong with it."""
    path, name, category = entry.get("filePath"), entry.get("name"), entry.get("category")
    if path is None and isinstance(name, str):
        path = f"{category}/{name}.md" if isinstance(category, str) and category else f"{name}.md"
    if not isinstance(path, str):
        return "", "it names no file"
    parts = path.replace("\\", "/").split("/")
    plain = "/".join(SKILL_FILE if part in SKILL_FILES else part for part in parts if part != ".")
    fault = path_problem(plain)
    return plain, f"its filePath '{sanitize(path, 80)}' {fault}" if fault else ""


def _read_entry(entry: dict[str, Any], where: str) -> LegacyEntry:
    triggers = (_clean(word, MAX_WORD_LENGTH) for word in _read_triggers(entry))
    facts: dict[str, Any] = {
        "name": _clean(entry.get("name"), MAX_WORD_LENGTH),
        "description": _clean(entry.get("description"), MAX_DESCRIPTION_LENGTH),
        "category": _clean(entry.get("category"), MAX_WORD_LENGTH),
        "triggers": tuple(dict.fromkeys(word for word in triggers if word))[:MAX_TRIGGERS],
        "version": _clean(entry.get("version"), MAX_WORD_LENGTH),
        "requires": _read_requires(entry),
        "user_only": is_user_only(entry),
    }
    kept = {key for key, value in facts.items() if value and value != SystemRequirements()}
    kept |= LOCATOR_KEYS | ({"trigger"} if facts["triggers"] else set())
    kept |= {"userOnly", USER_ONLY_KEY} if facts["user_only"] else set()
    kept |= {"needs"} if "requires" in kept else set()
    lost = sorted(_clean(key, MAX_WORD_LENGTH) for key, value in entry.items() if value and key not in kept)
    return LegacyEntry(**facts, dropped_keys=tuple(lost), where=where, has_file_path=entry.get("filePath") is not None)


def _read_triggers(entry: dict[str, Any]) -> tuple[str, ...]:
    return to_triggers(entry.get("triggers")) or to_triggers(entry.get("trigger"), "|,")


def _read_requires(entry: dict[str, Any]) -> SystemRequirements:
    """Give what is needed: `needs` has, as in a registry of ours, what `requires` there cannot say."""
    found = merge_requirements(
        *(read_system_requirements(entry.get(key), EMPTY_MAPPING) for key in ("requires", "needs"))
    )
    return SystemRequirements(**{kind: _clean_words(words) for kind, words in found.__dict__.items()})


def _clean_words(words: tuple[str, ...]) -> tuple[str, ...]:
    clean = (_clean(word, MAX_DESCRIPTION_LENGTH) for word in words)
    return tuple(dict.fromkeys(word for word in clean if word))[:MAX_TRIGGERS]


def is_user_only(entry: dict[str, Any]) -> bool:
    """Tell whether an entry keeps its skill from models, in either of the two ways that are met."""
    return any(_is_true(entry.get(key)) for key in ("userOnly", USER_ONLY_KEY))


def _is_true(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.strip().casefold() in TRUE_WORDS)


def _clean(value: Any, limit: int) -> str:
    """Give text on one line, with nothing hidden in it."""
    return HIDDEN.sub("", one_line(value))[:limit].strip() if isinstance(value, str) else ""
