"""A registry of the skills that an agent host sees, wherever they are."""

import os
import time
from collections.abc import Callable
from typing import cast

from skillpm.agent_hosts.discovery import Discovery
from skillpm.agent_hosts.shadowed_skills import FoundSkill
from skillpm.formats.registry import RegistryEntry, normalize_entry
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.installer.disk.stat_cache import FileStat, is_recent, to_file_stat
from skillpm.registry.build_state import RegistryProblem
from skillpm.registry.card import Card
from skillpm.registry.directory_registry import Registry
from skillpm.registry.entry import build_entry
from skillpm.registry.snapshot import RegistrySnapshot
from skillpm.skillmd.findings import NotLoadable


class HostRegistry(Registry):
    """The skills that a host sees; of duplicate names the first wins.

    A search goes through many folders, so it is repeated only if the last one is `refresh_interval` seconds old.
    Unchanged files are not read again.
    """

    def __init__(self, discover: Callable[[], Discovery], *, refresh_interval: float = 1.0) -> None:
        super().__init__()
        self._discover = discover
        self._refresh_interval = refresh_interval
        self._refreshed_at = 0.0
        self._entry_cache: dict[str, tuple[FileStat, RegistryEntry]] = {}
        self.refresh()

    @property
    def snapshot(self) -> RegistrySnapshot:
        """The skills as the last search found them, at most `refresh_interval` seconds ago."""
        if time.monotonic() - self._refreshed_at >= self._refresh_interval:
            self.refresh()
        return self._snapshot

    def refresh(self) -> None:
        """Search again."""
        with self._lock:
            found = self._discover()
            cards: dict[str, Card] = {}
            for skill in found.skills:
                if skill.name not in cards:
                    cards[skill.name] = self._build_card(skill)
            # A registry that cannot be read hides all of its skills.
            problems = tuple(
                RegistryProblem(path=warning.path, message=warning.message)
                for warning in found.warnings
                if os.path.basename(warning.path) == "skills.json"
            )
            if (cards, problems) != (self._snapshot.cards, self._snapshot.problems):
                cards = {name: cards[name] for name in sorted(cards)}
                self._snapshot = RegistrySnapshot(cards=cards, problems=problems)
            self._refreshed_at = time.monotonic()

    def _build_card(self, skill: FoundSkill) -> Card:
        folder, file = os.path.split(skill.path)
        entry = self._read_entry(skill, file)
        if skill.registered is not None:  # the file's own metadata applies where the registry says nothing
            user_only = entry.get("userOnly", False) or skill.registered.get("userOnly", False)
            kept = {key: value for key, value in skill.registered.items() if value and key != "filePath"}
            entry = cast("RegistryEntry", {**entry, **kept, "userOnly": user_only})
        return Card(normalize_entry({**entry, "description": skill.description}), folder)

    def _read_entry(self, skill: FoundSkill, file: str) -> RegistryEntry:
        try:
            file_stat = to_file_stat(os.stat(skill.path))
            cached = self._entry_cache.get(skill.path)
            if cached is not None and cached[0] == file_stat:
                return cached[1]
            entry = build_entry(skill.name, file, read_regular_file(skill.path)[0], pin=None, digest=None)
        except (OSError, NotLoadable):  # removed since it was found, or a flat file without frontmatter
            return RegistryEntry(name=skill.name, category="general", description="", triggers=[], filePath=file)
        if not is_recent(file_stat):
            self._entry_cache[skill.path] = (file_stat, entry)
        return entry
