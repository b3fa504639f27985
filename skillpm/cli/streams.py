"""Standard streams that are closed, full or not read: they must not interrupt a change to the skills directory."""

import os
import sys
from contextlib import suppress
from typing import TextIO


def reopen_closed_streams() -> None:
    """Open /dev/null for every standard stream that is closed (`>&-`).

    Otherwise the next file to be opened gets its number, and messages are written into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The system assigns the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDWR)
    for name, mode, number in (("stdin", "r", 0), ("stdout", "w", 1), ("stderr", "w", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def is_unwritable(stream: TextIO) -> bool:
    """Return whether flushing a stream fails: it is closed, its reader is gone, or the disk is full."""
    try:
        stream.flush()
    except (OSError, ValueError):
        return True
    return False


def discard_output(stream: TextIO) -> None:
    """Redirect a stream to /dev/null: Python flushes it at exit, and exits with 120 if that fails."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
