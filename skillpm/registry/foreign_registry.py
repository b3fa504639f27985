"""Read registries written by people and other tools. They are untrusted: only usable entries are kept. Pure."""

from typing import Any

from skillpm.core.json_text.decoder import load_json
from skillpm.core.names import path_problem
from skillpm.core.text import one_line
from skillpm.formats.legacy_registry import is_generated, is_user_only
from skillpm.formats.registry import MERGE_CONFLICT_MESSAGE, RegistryEntry, has_conflict_markers, normalize_entry

INVALID_JSON = "invalid JSON"
NOT_A_REGISTRY = "not a registry: `skills` is not a list"


def read_foreign_registry(text: str) -> tuple[dict[str, RegistryEntry], str]:
    """Return the entries of a registry that skillpm did not write, by name; of duplicates the first wins.

    Entries without a name, or with a path outside the folder, are left out. If the text is no registry, there are no
    entries, and the second value is the reason. It is empty for a registry that skillpm wrote in another format, which
    the next change replaces.
    """
    if has_conflict_markers(text):
        return {}, MERGE_CONFLICT_MESSAGE
    try:
        document = load_json(text)
    except (ValueError, RecursionError):
        return {}, "" if is_generated(text) else INVALID_JSON
    if isinstance(document, dict) and str(document.get("$schema", "")).startswith("urn:skillpm:"):
        return {}, ""
    skills = document.get("skills") if isinstance(document, dict) else None
    if not isinstance(skills, list):
        return {}, NOT_A_REGISTRY
    entries: dict[str, RegistryEntry] = {}
    for value in skills:
        entry = parse_entry(value)
        if entry is not None:
            entries.setdefault(entry["name"], entry)
    return entries, ""


def parse_entry(value: Any) -> RegistryEntry | None:
    """Return one entry with its name, category, description and triggers; None if it is not usable."""
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
