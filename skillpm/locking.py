"""Locks between processes: released by the system when a process dies, and told when one has to wait."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock, Timeout

from skillpm.errors import BusyError
from skillpm.files import told

PATIENCE = 1.0


@contextmanager
def locked(
    path: str, timeout: float, what: str, waiting: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the lock file at `path`. Whoever waits longer than a second is told so through `waiting`.

    Raises `BusyError` naming the process that holds it when `timeout` seconds are over.
    """
    with told("make a lock file", path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=min(PATIENCE, timeout))
        except Timeout:
            if waiting is not None:
                waiting(f"waiting for {what}, held by {_holder(path)}")
            try:
                lock.acquire(timeout=max(0.0, timeout - PATIENCE))
            except Timeout as error:
                raise BusyError(
                    f"{what} is held by {_holder(path)}, for more than {timeout:g} s",
                    where=path,
                    hint="wait for it to end, or allow more time with --lock-timeout",
                ) from error
    try:
        with suppress(OSError), open(path + ".pid", "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
        yield
    finally:
        lock.release()


def _holder(path: str) -> str:
    try:
        with open(path + ".pid", encoding="ascii") as file:
            return f"process {int(file.read(20))}"
    except (OSError, ValueError):
        return "another process"
