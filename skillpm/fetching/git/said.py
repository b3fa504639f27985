"""What git says while it runs, into a file without a name: it may be more than a pipe holds."""

import errno
import os
import threading
from contextlib import suppress

from skillpm.cachedir import insist
from skillpm.files import NOFOLLOW, told

ROOM_TO_COMPLAIN = 4096


def nameless_file(folder: str) -> int:
    """Open a file without a name.

    In memory, where the system has such files; else room for the first words is taken at once: a git that finds the
    disk full shall be able to say so.
    """
    if hasattr(os, "memfd_create"):
        return os.memfd_create("said")
    path = os.path.join(os.path.dirname(folder), f"said-{os.getpid()}-{threading.get_ident()}")
    with told("write in the git cache", path):
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | NOFOLLOW
        descriptor = insist(lambda: os.open(path, flags, 0o600), os.path.dirname(path))
        with suppress(FileNotFoundError):
            os.unlink(path)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, ROOM_TO_COMPLAIN)
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                os.close(descriptor)
                raise
    return descriptor


def what_was_said(complaint: int) -> str:
    """Give what a git wrote into its nameless file."""
    return os.pread(complaint, 64_000, 0).decode("utf-8", "replace").replace("\0", "").strip()
