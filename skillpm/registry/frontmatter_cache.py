"""The frontmatter of files on disk, remembered: a file that has not changed is not read again."""

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
    """A file that was read: what it says, and which file it really is, whatever path led to it."""

    head: SkillHead
    identity: tuple[int, int]


class HeadCache:
    """What files said when they were last read, by path; believed as long as size, times and inode are the same.

    Give the same one to many calls of `discover`, and only what changed is read. Threads may share one. A file is
    believed when it has been as it is for `rest` seconds: within one tick of a clock it may change again unseen.
    `reads` counts the files that were read.
    """

    def __init__(self, *, rest: float = 2.0) -> None:
        self.reads = 0
        self._settle_ns = int(rest * 1_000_000_000)
        self._cache: dict[str, tuple[tuple[int, ...], CachedHead]] = {}

    def clear(self) -> None:
        """Forget everything."""
        self._cache.clear()

    def read(self, path: str) -> CachedHead:
        """Give a file's frontmatter. Raises `OSError`, or `NotLoadable` with the finding that says why not."""
        known = self._cache.get(path)
        if known is not None and known[0] == _file_key(os.stat(path)):
            return known[1]
        data, state = read_bytes(path, HEAD_SIZE)
        self.reads += 1
        if state.st_size > MAX_FILE_SIZE:
            raise not_loadable("too-large", f"the file is over {MAX_FILE_SIZE} bytes")
        front = extract_frontmatter(data)
        if front is None and len(data) > HEAD_SIZE:
            front = read_bytes(path, MAX_FILE_SIZE)[0]
        seen = CachedHead(read_head(data if front is None else front), (state.st_dev, state.st_ino))
        if state.st_ctime_ns < time.time_ns() - self._settle_ns:
            self._cache[path] = (_file_key(state), seen)
        return seen


def read_bytes(path: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Give the first `most` bytes of a regular file, and one more where there are more. Raises `OSError`."""
    # Without NONBLOCK, opening a pipe waits for somebody to write into it.
    descriptor = os.open(path, os.O_RDONLY | NONBLOCK | BINARY)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
        data = os.read(descriptor, min(state.st_size, limit) + 1)
        # One call is enough for nearly every file; one that lies about its size is read to its end.
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
