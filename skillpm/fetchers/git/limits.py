"""How much git may take: time, words, memory, room on the disk. Nothing it is sent may make it take more."""

import sys
from collections.abc import Callable
from contextlib import suppress

from skillpm.errors import FetchError
from skillpm.fetchers.retry import RetryPolicy

MIN_MEMORY_LIMIT = 250_000_000


def memory_limit(max_bytes: int) -> int:
    """Give what git may hold while it receives so many bytes at most: what is allowed to be large needs room."""
    return max(MIN_MEMORY_LIMIT, 5 * max_bytes // 2)


def measure_memory(pid: int) -> int:
    """Give the bytes that a process and all below it hold for themselves; 0 where the system does not tell."""
    total, todo = 0, [pid]
    while todo:
        at = todo.pop()
        with suppress(OSError, ValueError):  # it has ended this very moment, or this is no Linux
            with open(f"/proc/{at}/status", "rb") as file:
                held = next((line.split()[1] for line in file if line.startswith(b"RssAnon:")), b"0")
            total += int(held) * 1024
            with open(f"/proc/{at}/task/{at}/children", "rb") as file:
                todo += [int(word) for word in file.read().split()]
    return total


MAX_STDERR = 1_000_000
MAX_MEMORY = 2_000_000_000


def too_much_data_error(what: str) -> FetchError:
    """Give the error for an answer that does not end, or unfolds to more than memory holds."""
    return FetchError(f"{what} sends more than git can hold", hint="nothing was changed; tell whoever keeps it")


class GitLimits(RetryPolicy):
    """How long git may take, and how much it may write; `watch` looks at it several times a second."""

    def __init__(
        self, what: str, seconds: float, max_bytes: int = 0, check_progress: Callable[[], None] | None = None
    ) -> None:
        super().__init__(what, seconds)
        self.max_bytes = max_bytes
        self._check_progress = check_progress

    def check(self) -> None:
        """Raise `FetchError` when it is over."""
        if self._check_progress is not None:
            self._check_progress()
        super().check()

    def check_usage(self, pid: int, stderr_size: int) -> None:
        """Raise `FetchError` where git holds or says more than any honest answer makes it."""
        if stderr_size > MAX_STDERR or (self.max_bytes and measure_memory(pid) > memory_limit(self.max_bytes)):
            raise too_much_data_error(self.what)


def limit_process(pid: int, max_bytes: int) -> None:
    """Have the system hold git and its children to a size of files and of memory, where it can.

    A crafted pack of a kilobyte may unfold to gigabytes, and on a fast line a lot arrives between two looks at it.
    """
    if max_bytes and sys.platform == "linux":
        import resource  # noqa: PLC0415  (Unix only)

        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
            resource.prlimit(pid, resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
