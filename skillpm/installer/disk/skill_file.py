"""Read the SKILL.md of an untrusted folder.

A pipe, a device or an endless file under that name must neither block skillpm nor exhaust its memory.
"""

import errno
import os
import stat
from collections.abc import Iterator

from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.files import translate_os_errors

READ_LIMIT = 1_000_001  # one byte over the limit for a SKILL.md, so that its parser sees that it is too large

SKIPPED_FOLDERS = frozenset([".git", "node_modules", ".skillpm", ".agent-skills"])
MAX_DEPTH = 6


def is_skill_folder(folder: str) -> bool:
    """Return whether a folder contains a SKILL.md."""
    return any(os.path.isfile(os.path.join(folder, name)) for name in SKILL_FILES)


def find_skill_file(folder: str) -> str:
    """Return the name of a folder's skill file (`SKILL.md` or a tolerated spelling); `SKILL.md` if it has none."""
    return next((name for name in SKILL_FILES if os.path.lexists(f"{folder}/{name}")), SKILL_FILE)


def read_skill_file(folder: str) -> bytes:
    """Return the bytes of a folder's SKILL.md, up to `READ_LIMIT`. Raises `OSError` if it cannot be read."""
    return read_regular_file(f"{folder}/{find_skill_file(folder)}")[0]


def read_regular_file(path: str, limit: int = READ_LIMIT) -> tuple[bytes, os.stat_result]:
    """Return up to `limit` bytes of a regular file, and its stat result. Raises `OSError`."""
    # Without O_NONBLOCK, opening a pipe blocks until another process opens it for writing.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        # Ask for the reported size plus one byte, which shows whether the file has grown. Asking for `limit` right away
        # would allocate a buffer of a megabyte for each of ten thousand files.
        data = os.read(descriptor, min(state.st_size + 1, limit))
        if len(data) != state.st_size:
            while len(data) < limit and (more := os.read(descriptor, limit - len(data))):
                data += more
        return data, state
    finally:
        os.close(descriptor)


def read_text_file(path: str) -> str:
    """Return an untrusted UTF-8 text with line feeds as line endings. Raises `OSError` if it is too large."""
    data, _ = read_regular_file(path)
    if len(data) >= READ_LIMIT:
        raise OSError(errno.EFBIG, "too large", path)
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def find_skill_folders(path: str) -> Iterator[str]:
    """Yield the folders of skills at or below a path, without descending into skills."""
    if os.path.basename(path) in SKILL_FILES and os.path.isfile(path):
        yield os.path.dirname(path)
        return
    todo = [(path, 0)]
    while todo:
        folder, depth = todo.pop()
        if is_skill_folder(folder):
            yield folder
        elif depth < MAX_DEPTH and os.path.isdir(folder):
            with translate_os_errors("look for skills", folder), os.scandir(folder) as entries:
                below = [e for e in entries if e.is_dir(follow_symlinks=False) and e.name not in SKIPPED_FOLDERS]
            todo.extend((entry.path, depth + 1) for entry in sorted(below, key=lambda e: e.name, reverse=True))
