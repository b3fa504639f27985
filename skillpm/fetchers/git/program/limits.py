"""Limits on a git process: time, memory, disk space and output.

A malicious repository must not be able to exhaust the machine: a pack of a kilobyte can unpack to gigabytes.
"""

import sys
from collections.abc import Callable
from contextlib import suppress

from skillpm.fetchers.common.retry import RetryPolicy
from skillpm.fetchers.git.program.errors import too_much_data_error

MIN_MEMORY_LIMIT = 250_000_000


def memory_limit(max_bytes: int) -> int:
    """Return how many bytes of memory git may use while it receives at most `max_bytes`."""
    # A higher download limit allows larger objects, which index-pack unpacks in memory.
    return max(MIN_MEMORY_LIMIT, 5 * max_bytes // 2)


def measure_memory(pid: int) -> int:
    """Return the private memory of a process and its descendants in bytes; 0 on systems without `/proc`."""
    total, pids = 0, [pid]
    while pids:
        current = pids.pop()
        with suppress(OSError, ValueError):  # the process has just ended, or this is not Linux
            with open(f"/proc/{current}/status", "rb") as file:
                # Anonymous pages only: packs are mapped into memory, and those pages can be dropped at any time.
                kilobytes = next((line.split()[1] for line in file if line.startswith(b"RssAnon:")), b"0")
            total += int(kilobytes) * 1024
            with open(f"/proc/{current}/task/{current}/children", "rb") as file:
                pids += [int(word) for word in file.read().split()]
    return total


MAX_STDERR = 1_000_000
MAX_MEMORY = 2_000_000_000


class GitLimits(RetryPolicy):
    """Limits of one request to a server; `check_progress` is called several times a second, and may raise.

    Git is stopped when it has printed `stop_on`, and `has_sent_much` returns whether the server goes on to send.
    """

    def __init__(
        self,
        what: str,
        seconds: float,
        max_bytes: int = 0,
        check_progress: Callable[[], None] | None = None,
        stop_on: str = "",
        has_sent_much: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(what, seconds)
        self.max_bytes = max_bytes
        self.stop_on = stop_on
        self._check_progress = check_progress
        self._has_sent_much = has_sent_much

    def check(self) -> None:
        """Raise `FetchError` if the time is up."""
        if self._check_progress is not None:
            self._check_progress()
        super().check()

    def should_stop(self) -> bool:
        """Return whether git is to be stopped if it has printed `stop_on`.

        Git prints its warnings before it sends the request, and the server may answer that it has no such commit.
        """
        return bool(self.stop_on) and (self._has_sent_much is None or self._has_sent_much())

    def check_usage(self, pid: int, stderr_size: int) -> None:
        """Raise `FetchError` if git uses more memory, or prints more, than any honest response causes."""
        if stderr_size > MAX_STDERR or (self.max_bytes and measure_memory(pid) > memory_limit(self.max_bytes)):
            raise too_much_data_error(self.what)


def limit_process(pid: int, max_bytes: int) -> None:
    """Set kernel limits on the file size and memory of git and its children (Linux only).

    Polling is not enough: on a fast connection a lot arrives between two checks.
    """
    if max_bytes and sys.platform == "linux":
        import resource  # noqa: PLC0415  (Unix only)

        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
            resource.prlimit(pid, resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
