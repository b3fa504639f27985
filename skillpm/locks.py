"""Locks between processes. The operating system releases them when a process dies."""

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
    """Hold the lock file at `path`; yield its descriptor. After a second of waiting, call `on_wait` with a message.

    A child process that inherits the descriptor holds the lock, too, even after this process is killed.

    Raises `BusyError`, naming the process that holds the lock, after `timeout` seconds, or as soon as `should_stop`
    returns True: an interrupt does not reach a thread that sleeps.
    """
    with translate_os_errors("create a lock file", path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = _Lock(path, thread_local=False)
        if not _try_acquire(lock, min(NOTICE_DELAY, timeout), should_stop):
            if on_wait is not None and timeout > NOTICE_DELAY:
                on_wait(f"waiting for {resource}, locked by {_describe_holder(path)}")
            if not _try_acquire(lock, timeout - NOTICE_DELAY, should_stop):
                raise BusyError(
                    f"{resource} has been locked by {_describe_holder(path)} for more than {timeout:g} s",
                    where=path,
                    hint="wait for it to finish, or wait longer with --lock-timeout",
                )
    try:
        with suppress(OSError):
            _write_holder(path + ".pid")
        yield lock.descriptor
    finally:
        lock.release()


class _Lock(FileLock):
    """A lock whose descriptor child processes can inherit."""

    @property
    def descriptor(self) -> int:
        """The open lock file, while the lock is held."""
        return self._context.lock_file_fd or 0


def is_held(path: str) -> bool:
    """Return whether a process holds a lock file, without creating or acquiring it. Always False on Windows."""
    if sys.platform == "win32":  # which only an attempt to lock can find out
        return False
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
    """Record the id of this process beside the lock file, for messages.

    In a new file: an existing one may be a link, symbolic or hard, to a file of the user.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def _try_acquire(lock: FileLock, seconds: float, should_stop: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        try:
            lock.acquire(timeout=max(0.0, min(POLL_INTERVAL, left)))
        except Timeout:
            if left <= POLL_INTERVAL or should_stop():
                return False
        except FileNotFoundError:
            os.makedirs(os.path.dirname(lock.lock_file), exist_ok=True)  # another process has just emptied the cache
        else:
            return True


def _describe_holder(path: str) -> str:
    try:
        with open(path + ".pid", encoding="ascii") as file:
            process = int(file.read(20))
    except (OSError, ValueError):
        return "another process"
    return f"process {process}" if is_process_alive(process) else f"a child of process {process}, which has exited"
