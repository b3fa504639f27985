"""The registry of what an agent host sees: every skill that discovery found, wherever it lies."""

import os
import time
from collections.abc import Callable, Iterable

from skillpm.agent_hosts.precedence import FoundSkill
from skillpm.formats.registry import RegistryEntry, tidy
from skillpm.installer.skill_file import read_regular_file
from skillpm.installer.stat_cache import Stamp, stamp_of
from skillpm.registry.card import Card
from skillpm.registry.directory_registry import Registry
from skillpm.registry.entry import entry_of
from skillpm.registry.snapshot import Shelf, is_recent
from skillpm.skillmd.findings import NotLoadable

Find = Callable[[], Iterable[FoundSkill]]


class HostRegistry(Registry):
    """The skills that a host sees; of one name the first counts.

    Looking for them goes through many folders, so it is done anew only where the last look is `pause` seconds old. A
    file that has not changed is not read again.
    """

    def __init__(self, find: Find, *, pause: float = 1.0) -> None:
        super().__init__()
        self._find = find
        self._pause = pause
        self._at = 0.0
        self._known: dict[str, tuple[Stamp, RegistryEntry]] = {}
        self.refresh()

    @property
    def shelf(self) -> Shelf:
        """Everything as it was found a moment ago."""
        if time.monotonic() - self._at >= self._pause:
            self.refresh()
        return self._shelf

    def refresh(self) -> None:
        """Look again."""
        with self._lock:
            cards: dict[str, Card] = {}
            for skill in self._find():
                if skill.name not in cards:
                    cards[skill.name] = self._card(skill)
            if cards != self._shelf.cards:
                self._shelf = Shelf(cards={name: cards[name] for name in sorted(cards)})
            self._at = time.monotonic()

    def _card(self, skill: FoundSkill) -> Card:
        folder, file = os.path.split(skill.path)
        return Card(tidy({**self._entry(skill, file), "description": skill.description}), folder)

    def _entry(self, skill: FoundSkill, file: str) -> RegistryEntry:
        try:
            stamp = stamp_of(os.stat(skill.path))
            known = self._known.get(skill.path)
            if known is not None and known[0] == stamp:
                return known[1]
            entry = entry_of(skill.name, file, read_regular_file(skill.path)[0], pin=None, digest=None)
        except (OSError, NotLoadable):  # gone since it was found, or a flat file that is all body
            return RegistryEntry(name=skill.name, category="general", description="", triggers=[], filePath=file)
        if not is_recent(stamp):
            self._known[skill.path] = (stamp, entry)
        return entry
