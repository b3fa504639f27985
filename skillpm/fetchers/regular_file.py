"""Read a file that somebody else made: only a regular one, without following a link, waiting, or reading on and on."""

import os
import stat

from skillpm.files import BINARY, NOFOLLOW

NONBLOCK = getattr(os, "O_NONBLOCK", 0)


def read_regular_file(path: str, max_bytes: int) -> bytes | None:
    """Give the first `most` bytes of a file, and one more where there are more; None where it is no regular file.

    The kind is asked of what was opened, not of the name: a pipe may have taken its place. Raises `OSError`.
    """
    descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY)
    with open(descriptor, "rb") as file:
        return file.read(max_bytes + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
