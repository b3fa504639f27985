"""Read registries written by people and other tools. They are untrusted: only usable entries are kept. Pure."""

import json
from typing import Any

from skillpm.core.names import path_problem
from skillpm.core.text import one_line
from skillpm.formats.legacy_registry import is_user_only
from skillpm.formats.registry import RegistryEntry, normalize_entry


def read_foreign_registry(text: str) -> dict[str, RegistryEntry]:
    """Return the entries of a registry that skillpm did not write, by name; of duplicates the first wins.

    Entries without a name, or with a path outside the folder, are left out. Returns no entries if the text is not a
    registry, or is a skillpm registry in an unknown format.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict) or str(document.get("$schema", "")).startswith("urn:skillpm:"):
        return {}
    skills = document.get("skills")
    entries: dict[str, RegistryEntry] = {}
    for value in skills if isinstance(skills, list) else ():
        entry = _parse_entry(value)
        if entry is not None:
            entries.setdefault(entry["name"], entry)
    return entries


def _parse_entry(value: Any) -> RegistryEntry | None:
    if not isinstance(value, dict):
        return None
    name, path = one_line(_get_text(value, "name")), _get_text(value, "filePath").removeprefix("./")
    if not name or path_problem(path):
        return None
    triggers = value.get("triggers")
    phrases = [one_line(phrase) for phrase in triggers if isinstance(phrase, str)] if isinstance(triggers, list) else []
    return normalize_entry(
        RegistryEntry(
            name=name,
            category=one_line(_get_text(value, "category")),
            description=one_line(_get_text(value, "description")),
            triggers=[phrase for phrase in phrases if phrase],
            filePath=path,
            userOnly=is_user_only(value),
        )
    )


def _get_text(value: dict[str, Any], key: str) -> str:
    text = value.get(key)
    return text if isinstance(text, str) else ""
