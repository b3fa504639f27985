"""Read an untrusted file: regular files only, without following links, blocking on a pipe, or reading forever."""

import os
import stat

from skillpm.files import BINARY, NOFOLLOW

NONBLOCK = getattr(os, "O_NONBLOCK", 0)


def read_regular_file(path: str, max_bytes: int) -> bytes | None:
    """Read up to `max_bytes` and one more, so that callers can detect larger files; None if not a regular file.

    Raises `OSError`.
    """
    descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY)
    with open(descriptor, "rb") as file:
        # The kind of the open file, not of the path: a pipe may have replaced it in between.
        return file.read(max_bytes + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
