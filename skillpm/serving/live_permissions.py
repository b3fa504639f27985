"""What may be seen at this moment: the rules and what is switched off, as the documents that say so have it now."""

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from skillpm.core.values import NOTHING, Value
from skillpm.installer.stat_cache import Stamp, stamp_of
from skillpm.registry.card import Card
from skillpm.registry.snapshot import is_recent
from skillpm.serving.permissions import Rules


class Permits(Value):
    """Rules, and names that are switched off: `disabled` wherever they lie, `disabled_in` by skills directory."""

    rules: Rules = Rules()
    disabled: Collection[str] = frozenset()
    disabled_in: Mapping[str, Collection[str]] = NOTHING

    def hides(self, card: Card) -> bool:
        """Tell whether a skill is not to be seen at all."""
        name = card.name
        return name in self.disabled or name in self.disabled_in.get(card.directory, ()) or self.rules.hides(name)


class Watched:
    """Gives permits, read from documents: again when one of `files` changed. Safe from several threads.

    What `read` raises is raised at each look until the document can be read: the rules of a moment ago may allow what
    those that somebody is writing forbid.
    """

    def __init__(self, files: Sequence[str], read: Callable[[], Permits]) -> None:
        self._files = tuple(files)
        self._read = read
        self._lock = threading.Lock()
        self._seen: tuple[tuple[Stamp, ...], Permits] | None = None

    def __call__(self) -> Permits:
        """Give what holds now."""
        stamps = tuple(map(_stamp_of, self._files))
        seen = self._seen
        if seen is not None and seen[0] == stamps:
            return seen[1]
        with self._lock:
            permits = self._read()
            if seen is not None and seen[1] == permits:
                permits = seen[1]  # the same object, so what was made of it is still true
            if not any(map(is_recent, stamps)):
                self._seen = (stamps, permits)
            else:
                self._seen = ((), permits)  # two changes within a tick of the clock look like one
            return permits


def _stamp_of(path: str) -> Stamp:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return ""
