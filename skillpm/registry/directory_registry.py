"""The skills of one directory as loaders see them: cards immediately, bodies on request, both current.

The generated registry (`skills.json`) is trusted for the folders that it lists and that exist. A folder it does not
list is read, and one that is missing is left out. While nothing changes, an access costs two `stat` calls. The files of
skills are checked only before they are offered to an agent, see `Registry.check`.
"""

import functools
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.text import sanitize
from skillpm.errors import FileError
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk.layout import PROJECT_FOLDER, Layout
from skillpm.installer.disk.stat_cache import FileStat, is_recent, read_file_stat
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, boundary_of, has_escaping_link
from skillpm.registry.build_state import RegistryProblem
from skillpm.registry.card import Card
from skillpm.registry.refresh import Refresher
from skillpm.registry.snapshot import (
    RegistrySnapshot,
    is_current,
    read_directory_stats,
    read_snapshot,
)
from skillpm.settings import current_settings

if TYPE_CHECKING:
    from skillpm.skillmd.skill import Skill

MAX_CACHED_SKILLS = 256


class Registry:
    """The skills of a directory, by name.

    `Registry.load(directory)` reads a skills directory, or several. `Registry(cards)` holds skills that were found by
    other means (`Card.from_path`); of cards with the same name the first wins.

    A registry always shows the current state: each access checks whether the directory has changed. It supports `len`,
    `in` (by either name of a skill) and iteration over cards. Threads may share it: a new state is built completely
    before it replaces the old one.
    """

    def __init__(self, cards: Iterable[Card] = (), *, directory: str = "", boundary: str = "") -> None:
        cards_by_name: dict[str, Card] = {}
        for card in cards:
            cards_by_name.setdefault(card.name, card)
        self.directory = directory
        self._boundary = boundary
        self._registered = self._snapshot = RegistrySnapshot(
            cards={name: cards_by_name[name] for name in sorted(cards_by_name)}
        )
        self._refresher = Refresher(Layout(directory=directory), "")
        self._open_cached = functools.lru_cache(MAX_CACHED_SKILLS)(self._open)
        self._lock = threading.RLock()

    @classmethod
    def load(
        cls,
        directory: "str | os.PathLike[str] | None" = None,
        *others: "str | os.PathLike[str]",
        boundary: str | None = None,
    ) -> "Registry":
        """Read a skills directory; without one, the user's own (`~/.agent-skills`).

        Any folder of skills will do, with or without a `skills.json`. A missing directory is an empty registry. Of
        several directories, each stays current; the first that has a name wins.

        `boundary` is the folder that links in the directory must not leave unless the project's manifest declares them.
        By default it is the project's repository for a project's `.agent-skills`, and there is none for other
        directories.

        Raises `FileError` if the directory cannot be read.
        """
        if others:
            return LayeredRegistry([cls.load(each, boundary=boundary) for each in (directory, *others)])
        settings = current_settings()
        user_directory = settings.skills_home
        path = os.path.abspath(user_directory if directory is None else os.path.expanduser(os.fspath(directory)))
        if boundary is None:
            is_project = os.path.basename(path) == PROJECT_FOLDER and path != user_directory
            boundary = boundary_of(os.path.dirname(path), settings.home) if is_project else ""
        registry = cls(directory=path, boundary=boundary)
        registry.refresh()
        return registry

    @property
    def snapshot(self) -> RegistrySnapshot:
        """The current state as one immutable value; the directory is read again if it changed."""
        if self.directory and not is_current(self._snapshot, self.directory):
            self.refresh()
        return self._snapshot

    @property
    def cards(self) -> Mapping[str, Card]:
        """The skills by name, sorted."""
        return self.snapshot.cards

    @property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        return tuple(self.cards)

    @property
    def problems(self) -> tuple[RegistryProblem, ...]:
        """The skills that cannot be offered, and why."""
        return self.snapshot.problems

    def get(self, name: str) -> Card | None:
        """Return the skill with this installed name, else the one with this declared name, else None."""
        cards = self.cards
        return cards.get(name) or next((card for card in cards.values() if card.declared == name), None)

    def read(self, card: Card) -> "Skill":
        """Open a skill and return its parsed SKILL.md.

        The result is cached as long as the file stays unchanged. Raises `FileError` if the file cannot be read, and
        `DocumentError` if it is not a valid skill.
        """
        file_stat = read_file_stat(card.location)
        is_cacheable = file_stat and not is_recent(file_stat)
        return self._open_cached(card, file_stat) if is_cacheable else self._open(card, file_stat)

    def _open(self, card: Card, _: FileStat) -> "Skill":
        if self._boundary and card.directory == self.directory and has_escaping_link(self._layout, card.name):
            raise FileError(f"`{sanitize(card.name)}` was not read: {ESCAPING_LINK_MESSAGE}", where=card.location)
        # Imported here because it loads a YAML library, which catalogs do not need.
        from skillpm.registry.skill_loader import open_skill  # noqa: PLC0415

        return open_skill(card, self.directory)

    def locate(self, card: Card) -> Card:
        """Return the card with the directory that currently holds the skill's files.

        That is staging if an interrupted change has not put the skill into place yet. A change that is in progress is
        waited for, up to a second.
        """
        layout = Layout(directory=self.directory)
        if card.directory != self.directory or not os.path.exists(layout.journal):
            return card

        def find_path(view: ReadView) -> tuple[str, bool]:
            path = view.skill_path(card.name)
            return path, path == layout.skill_path(card.name)

        is_staged = os.path.dirname(read_until_consistent(layout, find_path)) == layout.staging
        return Card(card.entry, layout.staging) if is_staged else card

    @property
    def _layout(self) -> Layout:
        return Layout(directory=self.directory, boundary=self._boundary)

    @property
    def is_there(self) -> bool:
        """Whether the directory exists; always true for a registry of given cards."""
        return not self.directory or os.path.isdir(self.directory)

    def refresh(self) -> None:
        """Read the directory again, even if nothing seems to have changed."""
        if not self.directory:
            return
        with self._lock:
            file_stats = read_directory_stats(self.directory)
            layout = self._layout
            self._registered = read_until_consistent(
                layout, lambda view: (read_snapshot(layout, view, file_stats), True)
            )
            if self._refresher.file_stat != file_stats[1]:
                self._refresher = Refresher(layout, file_stats[1])
            self._snapshot = self._refresher.apply_to(self._registered)

    def check(self, cards: Iterable[Card]) -> bool:
        """Check the files of these skills for edits since the registry was built, with one `stat` each.

        Call it before offering skills to an agent: what their files say now replaces what the registry says, and skills
        that cannot be read are left out. Return whether any of them differs from what was known; then take the cards
        again.
        """
        checked = tuple(cards)
        if not self.directory or not checked:
            return False
        with self._lock:
            has_changed = self._refresher.check(checked, self._registered)
            if has_changed:
                self._snapshot = self._refresher.apply_to(self._registered)
        return has_changed

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[Card]:
        return iter(self.cards.values())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None


class LayeredRegistry(Registry):
    """The skills of several directories, each as its own registry currently sees them; the first one wins."""

    def __init__(self, layers: Sequence[Registry]) -> None:
        super().__init__()
        self._layers = tuple(layers)
        self._layer_snapshots: tuple[RegistrySnapshot, ...] = ()

    @property
    def snapshot(self) -> RegistrySnapshot:
        """The current state of all layers as one immutable value."""
        parts = tuple(layer.snapshot for layer in self._layers)
        snapshot = self._snapshot
        if parts != self._layer_snapshots:
            cards: dict[str, Card] = {}
            disabled: dict[str, str] = {}
            for part in reversed(parts):
                # What a project disables is disabled in the layers below it, too (ADR 16).
                cards = {name: card for name, card in cards.items() if name not in part.disabled} | {**part.cards}
                disabled |= part.disabled
            snapshot = RegistrySnapshot(
                cards={name: cards[name] for name in sorted(cards)},
                disabled=disabled,
                problems=tuple(
                    problem if layer is self._layers[0] else problem.replace(path=f"{layer.directory}/{problem.path}")
                    for layer, part in zip(self._layers, parts, strict=True)
                    for problem in part.problems
                ),
            )
            with self._lock:
                self._layer_snapshots, self._snapshot = parts, snapshot
        return snapshot

    def read(self, card: Card) -> "Skill":
        """Open a skill through the registry of its directory; see `Registry.read`."""
        return self._find_layer(card).read(card)

    def locate(self, card: Card) -> Card:
        """Locate a skill through the registry of its directory; see `Registry.locate`."""
        return self._find_layer(card).locate(card)

    def check(self, cards: Iterable[Card]) -> bool:
        """Check the skills of each directory through its registry; see `Registry.check`."""
        cards_by_directory: dict[str, list[Card]] = {}
        for card in cards:
            cards_by_directory.setdefault(card.directory, []).append(card)
        changes = [
            layer.check(cards_by_directory.get(layer.directory, ())) for layer in self._layers
        ]  # a list: `any` must not skip the rest
        return any(changes)

    def _find_layer(self, card: Card) -> Registry:
        """Return the registry of a skill, which may be in its directory's staging."""
        directory = card.directory
        return next(
            layer for layer in self._layers if directory in {layer.directory, Layout(directory=layer.directory).staging}
        )

    @property
    def is_there(self) -> bool:
        """Whether any of the directories exists."""
        return any(layer.is_there for layer in self._layers)

    def refresh(self) -> None:
        """Read all directories again."""
        for layer in self._layers:
            layer.refresh()
