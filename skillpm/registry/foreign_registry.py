"""Registries that people and other tools wrote: read for what they are worth, never trusted. Pure."""

import json
from typing import Any

from skillpm.core.names import path_problem
from skillpm.core.text import one_line
from skillpm.formats.legacy_registry import is_user_only
from skillpm.formats.registry import RegistryEntry, normalize_entry


def read_foreign_registry(text: str) -> dict[str, RegistryEntry]:
    """Give the entries of a registry that this tool did not write, by name; the first of a name counts.

    An entry without a name or with a path that leaves the folder is left out. Nothing where the text is no registry,
    or one of ours in a format to come.
    """
    try:
        top = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(top, dict) or str(top.get("$schema", "")).startswith("urn:skillpm:"):
        return {}
    skills = top.get("skills")
    found: dict[str, RegistryEntry] = {}
    for value in skills if isinstance(skills, list) else ():
        entry = _parse_entry(value)
        if entry is not None:
            found.setdefault(entry["name"], entry)
    return found


def _parse_entry(value: Any) -> RegistryEntry | None:
    if not isinstance(value, dict):
        return None
    name, path = one_line(_get_text(value, "name")), _get_text(value, "filePath").removeprefix("./")
    if not name or path_problem(path):
        return None
    triggers = value.get("triggers")
    words = [one_line(word) for word in triggers if isinstance(word, str)] if isinstance(triggers, list) else []
    return normalize_entry(
        RegistryEntry(
            name=name,
            category=one_line(_get_text(value, "category")),
            description=one_line(_get_text(value, "description")),
            triggers=[word for word in words if word],
            filePath=path,
            userOnly=is_user_only(value),
        )
    )


def _get_text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""
