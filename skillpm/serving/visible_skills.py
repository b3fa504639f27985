"""The skills that permissions let an agent see, at one moment."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from skillpm.registry.card import Card
from skillpm.registry.snapshot import RegistrySnapshot
from skillpm.serving.live_permissions import EffectivePermissions
from skillpm.serving.skill_search import list_triggers, search_text

if TYPE_CHECKING:
    from skillpm.serving.installed_search import InstalledSearch


class VisibleSkills:
    """The visible skills of a snapshot, with lookup tables that are built on demand. Never modified."""

    def __init__(self, snapshot: RegistrySnapshot, permissions: EffectivePermissions) -> None:
        self.snapshot = snapshot
        self.permissions = permissions
        self.cards = {name: card for name, card in snapshot.cards.items() if not permissions.hides(card)}

    @cached_property
    def texts(self) -> Sequence[tuple[str, Card]]:
        """The searchable text of each skill."""
        return [(search_text(card), card) for card in self.cards.values()]

    @cached_property
    def search(self) -> "InstalledSearch":
        """The full-text index."""
        from skillpm.serving.installed_search import InstalledSearch  # noqa: PLC0415  (it loads SQLite)

        return InstalledSearch(self.cards.values())

    @cached_property
    def triggers(self) -> Sequence[tuple[str, Card]]:
        """All triggers, each with its skill."""
        return list_triggers(self.cards.values())
