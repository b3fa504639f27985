"""The registry of what an agent host sees: every skill that discovery found, wherever it lies."""

import os
from collections.abc import Iterable

from skillpm.documents.findings import NotLoadable
from skillpm.documents.registry import RegistryEntry, tidy
from skillpm.installing.skill_file import read_regular_file
from skillpm.serving.cards import Card
from skillpm.serving.entry import entry_of
from skillpm.serving.registry import Registry
from skillpm.serving.shadowing import FoundSkill


def registry_of(found: Iterable[FoundSkill]) -> Registry:
    """Give a registry of skills that were found; of one name the first counts. It does not change any more."""
    return Registry(_card(skill) for skill in found)


def _card(skill: FoundSkill) -> Card:
    folder, file = os.path.split(skill.path)
    try:
        entry = entry_of(skill.name, file, read_regular_file(skill.path)[0], pin=None, digest=None)
    except (OSError, NotLoadable):  # gone since it was found, or a flat file that is all body
        entry = RegistryEntry(name=skill.name, category="general", description="", triggers=[], filePath=file)
    entry["description"] = skill.description
    return Card(tidy(entry), folder)
