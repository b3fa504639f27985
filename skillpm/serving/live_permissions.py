"""What may be seen at this moment: the rules and what is switched off, as the documents that say so have it now."""

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.installer.stat_cache import FileStat, to_file_stat
from skillpm.registry.card import Card
from skillpm.registry.snapshot import is_recent
from skillpm.serving.permissions import Rules


class EffectivePermissions(Value):
    """Rules, and names that are switched off: `disabled` wherever they lie, `disabled_in` by skills directory."""

    rules: Rules = Rules()
    disabled: Collection[str] = frozenset()
    disabled_in: Mapping[str, Collection[str]] = EMPTY_MAPPING

    def hides(self, card: Card) -> bool:
        """Tell whether a skill is not to be seen at all."""
        name = card.name
        return name in self.disabled or name in self.disabled_in.get(card.directory, ()) or self.rules.hides(name)


class WatchedPermissions:
    """Gives permits, read from documents: again when one of `files` changed. Safe from several threads.

    What `read` raises is raised at each look until the document can be read: the rules of a moment ago may allow what
    those that somebody is writing forbid.
    """

    def __init__(self, files: Sequence[str], read: Callable[[], EffectivePermissions]) -> None:
        self._files = tuple(files)
        self._read = read
        self._lock = threading.Lock()
        self._cached: tuple[tuple[FileStat, ...], EffectivePermissions] | None = None

    def __call__(self) -> EffectivePermissions:
        """Give what holds now."""
        stamps = tuple(map(_read_file_stat, self._files))
        seen = self._cached
        if seen is not None and seen[0] == stamps:
            return seen[1]
        with self._lock:
            permits = self._read()
            if seen is not None and seen[1] == permits:
                permits = seen[1]  # the same object, so what was made of it is still true
            if not any(map(is_recent, stamps)):
                self._cached = (stamps, permits)
            else:
                self._cached = ((), permits)  # two changes within a tick of the clock look like one
            return permits


def _read_file_stat(path: str) -> FileStat:
    try:
        return to_file_stat(os.stat(path))
    except OSError:
        return ""
