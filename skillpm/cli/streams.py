"""The three streams of a process: they may be closed, full, or read by nobody, and no change stops for that."""

import os
import sys
from contextlib import suppress
from typing import TextIO


def reopen_closed_streams() -> None:
    """Let nothing be where a stream is closed (`>&-`): the next file to be opened would be taken for it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is given, so it is this one.
            os.open(os.devnull, os.O_RDWR)
    for name, mode, number in (("stdin", "r", 0), ("stdout", "w", 1), ("stderr", "w", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def is_unwritable(stream: TextIO) -> bool:
    """Tell whether what was written to a stream does not get out."""
    try:
        stream.flush()
    except (OSError, ValueError):
        return True
    return False


def discard_output(stream: TextIO) -> None:
    """Let nothing come of what is left to be written: nobody hears it, and Python would end with a code of its own."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
