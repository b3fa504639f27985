"""Read the SKILL.md of a folder that anybody may have made: a pipe or a device there must neither hang nor flood us."""

import errno
import os
import stat

from skillpm.core.names import SKILL_FILE, SKILL_FILES

READ_LIMIT = 1_000_001  # one byte more than a SKILL.md may have, so that its reader sees that it is too large


def is_skill_folder(folder: str) -> bool:
    """Tell whether a folder holds a SKILL.md."""
    return any(os.path.isfile(os.path.join(folder, name)) for name in SKILL_FILES)


def find_skill_file(folder: str) -> str:
    """Give the name of the file that makes a folder a skill; `SKILL.md` where there is none."""
    return next((name for name in SKILL_FILES if os.path.lexists(f"{folder}/{name}")), SKILL_FILE)


def read_skill_file(folder: str, file: str = "") -> bytes:
    """Give the bytes of a folder's SKILL.md, or of what it was found to be called.

    Raises `OSError`, for anything but a regular file too.
    """
    return read_regular_file(f"{folder}/{file or find_skill_file(folder)}")[0]


def read_regular_file(path: str, limit: int = READ_LIMIT) -> tuple[bytes, os.stat_result]:
    """Give the bytes of a file, up to one more than a SKILL.md may have, and its state. Raises `OSError`."""
    # Without NONBLOCK, opening a pipe waits for somebody to write into it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
        # As much as there is, and one byte more to see whether that was all: asking for the most that may be costs a
        # buffer of that size for each of ten thousand files.
        data = os.read(descriptor, min(state.st_size + 1, limit))
        while len(data) < limit and (more := os.read(descriptor, limit - len(data))):
            data += more
        return data, state
    finally:
        os.close(descriptor)


def read_text_file(path: str) -> str:
    """Give a text that anybody may have written, its lines ending in line feeds. Raises `OSError` for one too large."""
    data, _ = read_regular_file(path)
    if len(data) >= READ_LIMIT:
        raise OSError(errno.EFBIG, "it is too large", path)
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
