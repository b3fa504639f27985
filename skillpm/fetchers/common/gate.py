"""What the fetchers of a command ask the scope for: what is allowed, what the user named, and which commits are new."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from skillpm.core.exclude_newer import NO_CUTOFF, Cutoff
from skillpm.kinds.base import Pin, Source

if TYPE_CHECKING:
    from skillpm.fetchers.mirrors.layout import Replacement

from functools import cached_property


class Gate:
    """Allows everything, and names nothing. A scope has one of its own, see `scope_fetchers`."""

    def __init__(self, base: str = "", boundary: str = "") -> None:
        # The folder at which relative paths start.
        self.base = base
        # No link inside this folder may lead a local path out of it; empty for the user's own scope.
        self.boundary = boundary

    def check_places(self, places: Mapping[Any, Source | Pin]) -> None:
        """Raise `NotTrusted` for a source or pin that a policy forbids; a key is empty if the name is not known yet."""

    def require_allowed(self, url: str) -> None:
        """Raise `NotTrusted` for a URL that no policy allows; called before each request."""

    def find_cutoff(self) -> Cutoff:
        """Return the moment after which a commit is too new."""
        return NO_CUTOFF

    def find_agent_folders(self) -> Collection[str]:
        """Return the folders, in a repository, of the agents that the manifest names."""
        return ()

    def find_index_urls(self) -> Iterable[str]:
        """Return the addresses of the configured indexes, whose servers the user named."""
        return ()

    def find_replacement(self) -> "Replacement | None":
        """Return the mirrors that replace origins, if there are any."""
        return None


OPEN = Gate()


class Cooldown:
    """The cutoff of a command, read when a branch is first followed, and what it excluded."""

    def __init__(self, gate: Gate = OPEN) -> None:
        self._gate = gate
        # URL -> locked commits, which may be taken whatever their age.
        self.locked: dict[str, set[str]] = {}
        # (URL, ref) -> the commit that is taken instead of the newest one, and its tree.
        self.allowed: dict[tuple[str, str], tuple[str, str]] = {}
        # (URL, ref) -> the newest commit, if it is excluded.
        self.excluded: dict[tuple[str, str], str] = {}

    @cached_property
    def cutoff(self) -> Cutoff:
        """The cutoff that applies."""
        return self._gate.find_cutoff()
