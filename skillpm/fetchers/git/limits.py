"""How much git may take: time, words, memory, room on the disk. Nothing it is sent may make it take more."""

import sys
from collections.abc import Callable
from contextlib import suppress

from skillpm.errors import FetchError
from skillpm.fetchers.retry import Patience

ENOUGH = 250_000_000


def most_memory(most_bytes: int) -> int:
    """Give what git may hold while it receives so many bytes at most: what is allowed to be large needs room."""
    return max(ENOUGH, 5 * most_bytes // 2)


def memory_of(process: int) -> int:
    """Give the bytes that a process and all below it hold for themselves; 0 where the system does not tell."""
    total, todo = 0, [process]
    while todo:
        at = todo.pop()
        with suppress(OSError, ValueError):  # it has ended this very moment, or this is no Linux
            with open(f"/proc/{at}/status", "rb") as file:
                held = next((line.split()[1] for line in file if line.startswith(b"RssAnon:")), b"0")
            total += int(held) * 1024
            with open(f"/proc/{at}/task/{at}/children", "rb") as file:
                todo += [int(word) for word in file.read().split()]
    return total


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
