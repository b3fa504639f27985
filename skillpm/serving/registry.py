"""The skills of one directory as loaders see them: cards at once, bodies when asked for, both as the disk has them now.

The registry (`skills.json`) is believed for the folders it names that are there; a folder it does not know is read,
one that is gone is left out. A look costs two `stat` while nothing changes. Safe from several threads: what is read
is put in place whole.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from skillpm.documents.names import SKILL_FILE
from skillpm.documents.registry import RegistryEntry, read_registry
from skillpm.documents.text import show
from skillpm.errors import DocumentError, FileError
from skillpm.files import is_below
from skillpm.installing.layout import PROJECT_FOLDER, Layout
from skillpm.installing.leading_out import LEADS_OUT, fence_of, leads_out, linked_folders, those_leading_out
from skillpm.installing.scan import Stamp, stamp_of
from skillpm.installing.skill_file import skill_file_in
from skillpm.installing.view import View, look_until
from skillpm.serving.cards import Card
from skillpm.serving.registering import Problem, folders_in
from skillpm.settings import current_settings
from skillpm.values import NOTHING, Value

if TYPE_CHECKING:
    from skillpm.documents.skill import Skill

MOST_BODIES = 256
WHILE = 50_000_000  # ns; the longest tick of a clock that stamps files is 20 ms


class Shelf(Value):
    """What a registry held at one moment: cards by name, and what could not be read.

    `watched`: folders that the registry does not know, with the stamp of their SKILL.md: one may be put there or be
    written on without the directory changing. `is_settled`: nothing had changed for a while when it was read; two
    changes within one tick of a file system's clock look like one.
    """

    cards: Mapping[str, Card]
    watched: Mapping[str, Stamp] = NOTHING
    is_settled: bool = True
    problems: tuple[Problem, ...] = ()
    stamp: tuple[Stamp, ...] = ()


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
        self._fence = fence
        self._shelf = Shelf(cards={name: given[name] for name in sorted(given)})
        self._bodies: dict[str, tuple[Stamp, Skill]] = {}
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
            fence = fence_of(os.path.dirname(place), settings.home) if is_project else ""
        registry = cls(directory=place, fence=fence)
        registry.refresh()
        return registry

    @property
    def shelf(self) -> Shelf:
        """Everything as it is now, in one value that stays as it is: read again where something changed."""
        if self.directory and not _is_current(self._shelf, self.directory):
            self.refresh()
        return self._shelf

    @property
    def cards(self) -> Mapping[str, Card]:
        """The skills by name, sorted."""
        return self.shelf.cards

    @property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        return tuple(self.cards)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The skills that cannot be read, and why."""
        return self.shelf.problems

    def get(self, name: str) -> Card | None:
        """Give the skill of a name: the one it is installed under, else the one it gives itself."""
        cards = self.cards
        return cards.get(name) or next((card for card in cards.values() if card.declared == name), None)

    def read(self, card: Card) -> "Skill":
        """Open a skill: all that its file says. Raises `FileError` or `DocumentError` where that cannot be read."""
        known = self._bodies.get(card.location)
        try:
            if known is not None and known[0] == stamp_of(os.stat(card.location)):
                return known[1]
        except OSError:
            pass  # told below, by whoever reads it
        if self._fence and card.directory == self.directory and leads_out(self._layout, card.name):
            raise FileError(f"`{show(card.name)}` is not read: {LEADS_OUT}", where=card.location)
        # The reader brings a YAML library with it: only who opens a skill pays for it.
        from skillpm.serving.opening import open_skill  # noqa: PLC0415

        skill, stamp = open_skill(card, self.directory)
        if not is_recent(stamp):
            self._keep(card.location, stamp, skill)
        return skill

    def where_it_lies(self, card: Card) -> Card:
        """Give a skill that an interrupted change has not brought to its place as one that lies where it waits: its
        files are to be found where it is said to lie. A change that goes on is waited for, up to a second.
        """
        layout = Layout(self.directory)
        if card.directory != self.directory or not os.path.exists(layout.journal):
            return card

        def look(seen: View) -> tuple[str, bool]:
            found = seen.skill(card.name)
            return found, found == layout.skill(card.name)

        is_waiting = os.path.dirname(look_until(layout, look)) == layout.staging
        return Card(card.entry, layout.staging) if is_waiting else card

    @property
    def _layout(self) -> Layout:
        return Layout(self.directory, fence=self._fence)

    def _keep(self, location: str, stamp: Stamp, skill: "Skill") -> None:
        with self._lock:
            while len(self._bodies) >= MOST_BODIES:
                del self._bodies[next(iter(self._bodies))]
            self._bodies[location] = (stamp, skill)

    @property
    def is_there(self) -> bool:
        """Whether there is a directory at all; a registry of given skills always is."""
        return not self.directory or os.path.isdir(self.directory)

    def refresh(self) -> None:
        """Read the directory again, whether anything changed or not."""
        if not self.directory:
            return
        with self._lock:
            stamp = _stamp(self.directory)
            layout = self._layout
            self._shelf = look_until(layout, lambda seen: (_shelf(layout, seen, stamp), True))

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[Card]:
        return iter(self.cards.values())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None


def _is_current(shelf: Shelf, directory: str) -> bool:
    watched = shelf.watched.items()
    return (
        shelf.is_settled
        and shelf.stamp == _stamp(directory)
        and all(_stamp_of(_file(directory, name)) == was for name, was in watched)
    )


def _file(directory: str, name: str) -> str:
    folder = f"{directory}/{name}"
    return f"{folder}/{skill_file_in(folder)}"


def is_recent(stamp: Stamp) -> bool:
    """Tell whether a file changed so short a time ago that it may change again and look the same."""
    return bool(stamp) and int(stamp.split()[2]) > time.time_ns() - WHILE


def _stamp(directory: str) -> tuple[Stamp, ...]:
    """Give what changes with every change of a skills directory: folders that come or go, a registry written anew."""
    return tuple(_stamp_of(path) for path in (directory, os.path.join(directory, "skills.json")))


def _stamp_of(path: str) -> Stamp:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return ""


def _shelf(layout: Layout, seen: View, stamp: tuple[Stamp, ...]) -> Shelf:
    text = seen.document("registry", layout.registry)
    entries, disabled = _entries(layout, text)
    folders = {*folders_in(layout.directory)} - {*seen.going}
    coming = entries.keys() if seen.is_pending else set()
    outside = those_leading_out(layout, folders - entries.keys() | linked_folders(layout) | coming)
    cards = {
        name: Card(entry, layout.directory)
        for name, entry in entries.items()
        if name not in outside
        and (
            (name in folders if entry["filePath"] == f"{name}/{SKILL_FILE}" else _is_inside(layout, entry))
            or (seen.is_pending and os.path.exists(seen.skill(name)))
        )
    }
    problems = [Problem(path=f"{name}/{SKILL_FILE}", message=LEADS_OUT) for name in sorted(outside - {*disabled})]
    watched: dict[str, Stamp] = {}
    told = {card.entry["filePath"].partition("/")[0] for card in cards.values()}
    for name in sorted(folders - told - {*disabled}):
        watched[name] = _stamp_of(_file(layout.directory, name))
        if name in outside or not os.path.lexists(_file(layout.directory, name)):
            continue  # a folder of something else, or of a skill that is being written
        from skillpm.serving.opening import entry_of_folder  # noqa: PLC0415

        found = entry_of_folder(layout.directory, name)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            cards[name] = Card(found, layout.directory)
    return Shelf(
        cards={name: cards[name] for name in sorted(cards)},
        watched=watched,
        is_settled=not any(map(is_recent, (*stamp, *watched.values()))),
        problems=tuple(problems),
        stamp=stamp,
    )


def _entries(layout: Layout, text: str | None) -> tuple[Mapping[str, RegistryEntry], tuple[str, ...]]:
    if text is None:
        return {}, ()
    try:
        return read_registry(text, layout.registry)
    except DocumentError:
        from skillpm.serving.old_registries import read_old_registry  # noqa: PLC0415  (rare)

        return read_old_registry(text), ()


def _is_inside(layout: Layout, entry: RegistryEntry) -> bool:
    """Tell whether the file of an entry is there, and really in the directory: a link may lead out of it."""
    path = os.path.realpath(os.path.join(layout.directory, entry["filePath"]))
    return is_below(path, os.path.realpath(layout.directory)) and os.path.isfile(path)
