"""The skills of one directory as loaders see them: cards at once, bodies when asked for, both as the disk has them now.

The registry (`skills.json`) is believed for the folders it names that are there; a folder it does not know is read,
one that is gone is left out. A look costs two `stat` while nothing changes. Whoever is about to offer skills has their
files looked at first, see `check`. Safe from several threads: what is read is put in place whole.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from skillpm.core.text import sanitize
from skillpm.errors import FileError
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, boundary_of, has_escaping_link
from skillpm.installer.layout import PROJECT_FOLDER, Layout
from skillpm.installer.stat_cache import FileStat, to_file_stat
from skillpm.registry.build_state import RegistryProblem
from skillpm.registry.card import Card
from skillpm.registry.refresh import Refresher
from skillpm.registry.snapshot import RegistrySnapshot, is_current, is_recent, read_directory_stats, read_snapshot
from skillpm.settings import current_settings

if TYPE_CHECKING:
    from skillpm.skillmd.skill import Skill

MAX_CACHED_SKILLS = 256


class Registry:
    """The skills of a directory, by name.

    `Registry.load(directory)` reads a skills directory; `Registry(cards)` holds the skills it is given, found by
    whatever means.
    """

    def __init__(self, cards: Iterable[Card] = (), *, directory: str = "", fence: str = "") -> None:
        given: dict[str, Card] = {}
        for card in cards:
            given.setdefault(card.name, card)
        self.directory = directory
        self._boundary = fence
        self._registered = self._snapshot = RegistrySnapshot(cards={name: given[name] for name in sorted(given)})
        self._refresher = Refresher(Layout(directory), "")
        self._skill_cache: dict[str, tuple[FileStat, Skill]] = {}
        self._lock = threading.RLock()

    @classmethod
    def load(cls, directory: "str | os.PathLike[str] | None" = None, *, fence: str | None = None) -> "Registry":
        """Read a skills directory, without one the user's own (`~/.agent-skills`). A folder that is not there is empty.

        It needs no `skills.json`: any folder with skills in it will do. Raises `FileError` where it cannot be read.
        `fence` is what no skill may lead out of unasked: for `.agent-skills` its project, or the repository of that.
        """
        settings = current_settings()
        own = settings.skills_home
        place = os.path.abspath(own if directory is None else os.path.expanduser(os.fspath(directory)))
        if fence is None:
            is_project = os.path.basename(place) == PROJECT_FOLDER and place != own
            fence = boundary_of(os.path.dirname(place), settings.home) if is_project else ""
        registry = cls(directory=place, fence=fence)
        registry.refresh()
        return registry

    @property
    def shelf(self) -> RegistrySnapshot:
        """Everything as it is now, in one value that stays as it is: read again where something changed."""
        if self.directory and not is_current(self._snapshot, self.directory):
            self.refresh()
        return self._snapshot

    @property
    def cards(self) -> Mapping[str, Card]:
        """The skills by name, sorted."""
        return self.shelf.cards

    @property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        return tuple(self.cards)

    @property
    def problems(self) -> tuple[RegistryProblem, ...]:
        """The skills that cannot be read, and why."""
        return self.shelf.problems

    def get(self, name: str) -> Card | None:
        """Give the skill of a name: the one it is installed under, else the one it gives itself."""
        cards = self.cards
        return cards.get(name) or next((card for card in cards.values() if card.declared == name), None)

    def read(self, card: Card) -> "Skill":
        """Open a skill: all that its file says. Raises `FileError` or `DocumentError` where that cannot be read."""
        known = self._skill_cache.get(card.location)
        try:
            if known is not None and known[0] == to_file_stat(os.stat(card.location)):
                return known[1]
        except OSError:
            pass  # told below, by whoever reads it
        if self._boundary and card.directory == self.directory and has_escaping_link(self._layout, card.name):
            raise FileError(f"`{sanitize(card.name)}` is not read: {ESCAPING_LINK_MESSAGE}", where=card.location)
        # The reader brings a YAML library with it: only who opens a skill pays for it.
        from skillpm.registry.skill_loader import open_skill  # noqa: PLC0415

        skill, stamp = open_skill(card, self.directory)
        if not is_recent(stamp):
            self._cache_skill(card.location, stamp, skill)
        return skill

    def where_it_lies(self, card: Card) -> Card:
        """Give a skill that an interrupted change has not brought to its place as one that lies where it waits: its
        files are to be found where it is said to lie. A change that goes on is waited for, up to a second.
        """
        layout = Layout(self.directory)
        if card.directory != self.directory or not os.path.exists(layout.journal):
            return card

        def look(seen: ReadView) -> tuple[str, bool]:
            found = seen.skill_path(card.name)
            return found, found == layout.skill_path(card.name)

        is_waiting = os.path.dirname(read_until_consistent(layout, look)) == layout.staging
        return Card(card.entry, layout.staging) if is_waiting else card

    @property
    def _layout(self) -> Layout:
        return Layout(self.directory, boundary=self._boundary)

    def _cache_skill(self, location: str, file_stat: FileStat, skill: "Skill") -> None:
        with self._lock:
            while len(self._skill_cache) >= MAX_CACHED_SKILLS:
                del self._skill_cache[next(iter(self._skill_cache))]
            self._skill_cache[location] = (file_stat, skill)

    @property
    def is_there(self) -> bool:
        """Whether there is a directory at all; a registry of given skills always is."""
        return not self.directory or os.path.isdir(self.directory)

    def refresh(self) -> None:
        """Read the directory again, whether anything changed or not."""
        if not self.directory:
            return
        with self._lock:
            stamp = read_directory_stats(self.directory)
            layout = self._layout
            self._registered = read_until_consistent(layout, lambda seen: (read_snapshot(layout, seen, stamp), True))
            if self._refresher.file_stat != stamp[1]:
                self._refresher = Refresher(layout, stamp[1])
            self._snapshot = self._refresher.apply_to(self._registered)

    def check(self, cards: Iterable[Card]) -> bool:
        """Look at the files of these skills, one `stat` each: what was written on since the registry was built counts
        as it is now, and what cannot be read is left out. Tell whether anything was otherwise than it was known.
        """
        given = tuple(cards)
        if not self.directory or not given:
            return False
        with self._lock:
            is_other = self._refresher.check(given, self._registered)
            if is_other:
                self._snapshot = self._refresher.apply_to(self._registered)
        return is_other

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[Card]:
        return iter(self.cards.values())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None
