"""An in-memory cache of frontmatter, so that repeated discovery reads only changed files.

It applies the rule of the stat cache (ADR 7) to files that are not ours: an entry is valid while device, inode, size,
mtime and ctime are the same, and is only stored if the file had not been touched for a while. Two writes within one
tick of the clock leave the same times, and the second one would go unnoticed.
"""

import errno
import os
import stat
import time
from typing import NamedTuple

from skillpm.files import BINARY, NONBLOCK
from skillpm.skillmd.findings import not_loadable
from skillpm.skillmd.frontmatter import MAX_FILE_SIZE
from skillpm.skillmd.head import HEAD_SIZE, SkillHead, extract_frontmatter, read_head

CHUNK = 1 << 20


class CachedHead(NamedTuple):
    """The parsed frontmatter of a file, and its device and inode: the identity behind different paths to one file."""

    head: SkillHead
    identity: tuple[int, int]


class HeadCache:
    """A cache of frontmatter, shared by repeated calls of `discover`.

    Pass the same cache to each call, and only files that changed in between are read. A file is cached only if it was
    last touched more than `rest` seconds before it was read: network file systems and FAT have coarse clocks, so a
    younger file could change again without a visible trace. `reads` counts the files read so far. Threads may share a
    cache.
    """

    def __init__(self, *, rest: float = 2.0) -> None:
        self.reads = 0
        self._settle_ns = int(rest * 1_000_000_000)
        self._cache: dict[str, tuple[tuple[int, ...], CachedHead]] = {}

    def clear(self) -> None:
        """Forget all files."""
        self._cache.clear()

    def read(self, path: str) -> CachedHead:
        """Return the frontmatter of a file.

        Raises `OSError` if it cannot be read, and `NotLoadable`, with a finding, if it has no valid frontmatter.
        """
        cached = self._cache.get(path)
        if cached is not None and cached[0] == _file_key(os.stat(path)):
            return cached[1]
        data, state = read_bytes(path, HEAD_SIZE)
        self.reads += 1
        if state.st_size > MAX_FILE_SIZE:
            raise not_loadable("too-large", f"the file is over {MAX_FILE_SIZE} bytes")
        front = extract_frontmatter(data)
        # Almost every frontmatter fits into the head. If its end is not in there, read the whole file.
        if front is None and len(data) > HEAD_SIZE:
            front = read_bytes(path, MAX_FILE_SIZE)[0]
        result = CachedHead(read_head(data if front is None else front), (state.st_dev, state.st_ino))
        if state.st_ctime_ns < time.time_ns() - self._settle_ns:
            self._cache[path] = (_file_key(state), result)
        return result


def read_bytes(path: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Return the first `limit` bytes of a regular file, plus one byte if there are more, and its stat. Raises
    `OSError`.
    """
    # Without O_NONBLOCK, opening a pipe blocks until another process opens it for writing.
    descriptor = os.open(path, os.O_RDONLY | NONBLOCK | BINARY)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        data = os.read(descriptor, min(state.st_size, limit) + 1)
        # One call is enough for nearly every file. Files with a wrong size (as in /proc) are read to their end.
        while len(data) <= limit and len(data) != state.st_size:
            part = os.read(descriptor, min(limit + 1 - len(data), CHUNK))
            if not part:
                break
            data += part
        return data, state
    finally:
        os.close(descriptor)


def _file_key(state: os.stat_result) -> tuple[int, ...]:
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
