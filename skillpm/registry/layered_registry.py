"""Several registries as one: a project's skills first, then those around it, then the user's. The first name wins."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from skillpm.installer.layout import Layout
from skillpm.registry.card import Card
from skillpm.registry.directory_registry import Registry
from skillpm.registry.snapshot import RegistrySnapshot

if TYPE_CHECKING:
    from skillpm.skillmd.skill import Skill


class LayeredRegistry(Registry):
    """The skills of several directories, each as its own registry currently sees them."""

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
                # What a project disables is disabled in the layers below it, too (ADR 17).
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
