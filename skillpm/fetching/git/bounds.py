"""How much git may take: time, words, memory, room on the disk. Nothing it is sent may make it take more."""

import sys
from collections.abc import Callable
from contextlib import suppress

from skillpm.errors import FetchError
from skillpm.fetching.git.weighing import memory_of, most_memory
from skillpm.fetching.retrying import Patience

MOST_SAID = 1_000_000
MOST_MEMORY = 2_000_000_000


def too_much(what: str) -> FetchError:
    """Give the error for an answer that does not end, or unfolds to more than memory holds."""
    return FetchError(f"{what} sends more than git can hold", hint="nothing was changed; tell whoever keeps it")


class Deadline(Patience):
    """How long git may take, and how much it may write; `watch` looks at it several times a second."""

    def __init__(self, what: str, seconds: float, most_bytes: int = 0, watch: Callable[[], None] | None = None) -> None:
        super().__init__(what, seconds)
        self.most_bytes = most_bytes
        self._watch = watch

    def check(self) -> None:
        """Raise `FetchError` when it is over."""
        if self._watch is not None:
            self._watch()
        super().check()

    def weigh(self, process: int, said: int) -> None:
        """Raise `FetchError` where git holds or says more than any honest answer makes it."""
        if said > MOST_SAID or (self.most_bytes and memory_of(process) > most_memory(self.most_bytes)):
            raise too_much(self.what)


def bind(process: int, most_bytes: int) -> None:
    """Have the system hold git and its children to a size of files and of memory, where it can.

    A crafted pack of a kilobyte may unfold to gigabytes, and on a fast line a lot arrives between two looks at it.
    """
    if most_bytes and sys.platform == "linux":
        import resource  # noqa: PLC0415  (Unix only)

        with suppress(OSError, ValueError):
            resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))
            resource.prlimit(process, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
            resource.prlimit(process, resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
