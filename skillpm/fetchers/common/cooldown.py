"""`exclude-newer` for branches: which commits may be taken, and which newest ones were left out."""

from functools import cached_property

from skillpm.core.exclude_newer import Cutoff
from skillpm.fetchers.common.gate import OPEN, Gate


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
