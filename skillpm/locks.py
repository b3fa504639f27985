"""Locks between processes. The operating system releases them when a process dies."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from skillpm.directories import make_folders, open_parent
from skillpm.errors import BusyError
from skillpm.files import NOFOLLOW, NONBLOCK, is_process_alive, translate_os_errors

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NOTICE_DELAY = 1.0
POLL_INTERVAL = 0.05


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
        make_folders(os.path.dirname(path))
        descriptor = _acquire(path, min(NOTICE_DELAY, timeout), should_stop)
        if descriptor is None:
            if on_wait is not None and timeout > NOTICE_DELAY:
                on_wait(f"waiting for {resource}, locked by {_describe_holder(path)}")
            descriptor = _acquire(path, timeout - NOTICE_DELAY, should_stop)
            if descriptor is None:
                raise BusyError(
                    f"{resource} has been locked by {_describe_holder(path)} for more than {timeout:g} s",
                    where=path,
                    hint="wait for it to finish, or wait longer with --lock-timeout",
                )
    try:
        with suppress(OSError):
            _write_holder(path + ".pid")
        yield descriptor
    finally:
        try:
            _unlock(descriptor)  # closing is not enough while a child process has the descriptor
        finally:
            os.close(descriptor)


def _write_holder(path: str) -> None:
    """Record the id of this process beside the lock file, for messages.

    Always in a new file: the old one may be a link, also a hard link, to a file that is not ours.
    """
    with open_parent(path) as folder:
        name = os.path.basename(path)
        with suppress(FileNotFoundError):
            folder.remove_file(name)
        descriptor = folder.open_file(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def _acquire(path: str, seconds: float, should_stop: Callable[[], bool]) -> int | None:
    """Return the locked descriptor of a lock file; None if another process holds it for `seconds`."""
    end = time.monotonic() + seconds
    while True:
        try:
            descriptor = _open_locked(path)
        except FileNotFoundError:
            make_folders(os.path.dirname(path))  # another process has just emptied the cache
            continue
        if descriptor is not None:
            return descriptor
        left = end - time.monotonic()
        if left <= 0 or should_stop():
            return None
        time.sleep(min(POLL_INTERVAL, left))


def _open_locked(path: str) -> int | None:
    """Open and lock a file without waiting; return its descriptor, or None if another process holds it."""
    # Neither truncated nor written: a link, also a hard link, may lead to a file that is not ours.
    name = os.path.basename(path)
    with open_parent(path) as folder:
        descriptor = folder.open_file(name, os.O_RDWR | os.O_CREAT | NONBLOCK, 0o644)
        try:
            # Whoever held the lock before may have removed the file; another process then locks the next one of that
            # name.
            if _try_lock(descriptor) and os.path.samestat(os.fstat(descriptor), folder.lstat(name)):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    return None


if sys.platform == "win32":

    def is_held(path: str) -> bool:  # noqa: ARG001  (only an attempt to lock can find out)
        """Return False: not known."""
        return False

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:

    def is_held(path: str) -> bool:
        """Return whether a process holds a lock file, without creating or acquiring it; False on Windows."""
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

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _describe_holder(path: str) -> str:
    try:
        with open(path + ".pid", encoding="ascii") as file:
            process = int(file.read(20))
    except (OSError, ValueError):
        return "another process"
    return f"process {process}" if is_process_alive(process) else f"a child of process {process}, which has exited"
