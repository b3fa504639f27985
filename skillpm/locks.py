"""Locks between processes: released by the system when a process dies, and told when one has to wait."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock, Timeout

from skillpm.errors import BusyError
from skillpm.files import NOFOLLOW, NONBLOCK, is_process_alive, translate_os_errors

NOTICE_DELAY = 1.0
POLL_INTERVAL = 0.25


@contextmanager
def hold_lock(
    path: str,
    timeout: float,
    resource: str,
    on_wait: Callable[[str], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[int]:
    """Hold the lock file at `path`; give its descriptor. Whoever waits longer than a second is told so through
    `waiting`.

    A child that is given the descriptor holds the lock, too, and on if this process is killed.

    Raises `BusyError` naming the process that holds it when `timeout` seconds are over, or `stopped` says so: an
    interrupt does not reach a thread that sleeps.
    """
    with translate_os_errors("make a lock file", path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = _Lock(path, thread_local=False)
        if not _try_acquire(lock, min(NOTICE_DELAY, timeout), should_stop):
            if on_wait is not None and timeout > NOTICE_DELAY:
                on_wait(f"waiting for {resource}, held by {_describe_holder(path)}")
            if not _try_acquire(lock, timeout - NOTICE_DELAY, should_stop):
                raise BusyError(
                    f"{resource} is held by {_describe_holder(path)}, for more than {timeout:g} s",
                    where=path,
                    hint="wait for it to end, or allow more time with --lock-timeout",
                )
    try:
        with suppress(OSError):
            _write_holder(path + ".pid")
        yield lock.descriptor
    finally:
        lock.release()


class _Lock(FileLock):
    """A lock whose open file can be handed on."""

    @property
    def descriptor(self) -> int:
        """The descriptor of the file, while the lock is held."""
        return self._context.lock_file_fd or 0


def is_held(path: str) -> bool:
    """Tell whether some process holds a lock file, without making or taking it."""
    if sys.platform == "win32":
        return False  # nobody can tell without trying
    import fcntl  # noqa: PLC0415  (Unix only)

    try:
        descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _write_holder(path: str) -> None:
    """Write down which process holds the lock, into a file and never through a link."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOFOLLOW | NONBLOCK, 0o644)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def _try_acquire(lock: FileLock, seconds: float, should_stop: Callable[[], bool]) -> bool:
    """Try for some seconds."""
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        try:
            lock.acquire(timeout=max(0.0, min(POLL_INTERVAL, left)))
        except Timeout:
            if left <= POLL_INTERVAL or should_stop():
                return False
        except FileNotFoundError:
            os.makedirs(os.path.dirname(lock.lock_file), exist_ok=True)  # somebody emptied the cache this very moment
        else:
            return True


def _describe_holder(path: str) -> str:
    try:
        with open(path + ".pid", encoding="ascii") as file:
            process = int(file.read(20))
    except (OSError, ValueError):
        return "another process"
    return (
        f"process {process}" if is_process_alive(process) else f"what process {process}, which has ended, had started"
    )
