"""Several registries as one: a project's skills, then the user's own. Of one name the first counts."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from skillpm.installer.layout import Layout
from skillpm.registry.card import Card
from skillpm.registry.directory_registry import Registry
from skillpm.registry.snapshot import RegistrySnapshot

if TYPE_CHECKING:
    from skillpm.skillmd.skill import Skill


class LayeredRegistry(Registry):
    """The skills of several directories, each as its registry has them now."""

    def __init__(self, layers: Sequence[Registry]) -> None:
        super().__init__()
        self._layers = tuple(layers)
        self._layer_snapshots: tuple[RegistrySnapshot, ...] = ()

    @property
    def shelf(self) -> RegistrySnapshot:
        """Everything as it is now."""
        parts = tuple(layer.shelf for layer in self._layers)
        shelf = self._snapshot
        if len(parts) != len(self._layer_snapshots) or any(
            new is not old for new, old in zip(parts, self._layer_snapshots, strict=True)
        ):
            cards = {name: card for part in reversed(parts) for name, card in part.cards.items()}
            shelf = RegistrySnapshot(
                cards={name: cards[name] for name in sorted(cards)},
                problems=tuple(
                    problem if layer is self._layers[0] else problem.replace(path=f"{layer.directory}/{problem.path}")
                    for layer, part in zip(self._layers, parts, strict=True)
                    for problem in part.problems
                ),
            )
            with self._lock:
                self._layer_snapshots, self._snapshot = parts, shelf
        return shelf

    def read(self, card: Card) -> "Skill":
        """Open a skill, in the registry of the directory it lies in."""
        return self._find_layer(card).read(card)

    def where_it_lies(self, card: Card) -> Card:
        """Ask the registry of the directory it lies in."""
        return self._find_layer(card).where_it_lies(card)

    def check(self, cards: Iterable[Card]) -> bool:
        """Let the registry of each directory look at the files of what lies in it."""
        there: dict[str, list[Card]] = {}
        for card in cards:
            there.setdefault(card.directory, []).append(card)
        found = [layer.check(there.get(layer.directory, ())) for layer in self._layers]  # all of them, not until one is
        return any(found)

    def _find_layer(self, card: Card) -> Registry:
        """Give the registry of a skill, also of one that waits in its directory's staging."""
        there = card.directory
        return next(layer for layer in self._layers if there in {layer.directory, Layout(layer.directory).staging})

    @property
    def is_there(self) -> bool:
        """Whether there is any of the directories."""
        return any(layer.is_there for layer in self._layers)

    def refresh(self) -> None:
        """Read every directory again."""
        for layer in self._layers:
            layer.refresh()
