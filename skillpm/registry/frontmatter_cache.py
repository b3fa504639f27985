"""An in-memory cache of frontmatter, so that repeated discovery reads only changed files.

It applies the rule of the stat cache (ADR 7) to files that are not ours: an entry is valid while device, inode, size,
mtime and ctime are the same, and is only stored if the file had not been touched for a while. Two writes within one
tick of the clock leave the same times, and the second one would go unnoticed.
"""

import os
import time
from typing import NamedTuple

from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.installer.disk.stat_cache import FileStat, to_file_stat
from skillpm.skillmd.findings import not_loadable
from skillpm.skillmd.frontmatter import MAX_FILE_SIZE
from skillpm.skillmd.head import HEAD_SIZE, SkillHead, extract_frontmatter, read_head


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
        self._cache: dict[str, tuple[tuple[int, FileStat], CachedHead]] = {}

    def read(self, path: str) -> CachedHead:
        """Return the frontmatter of a file.

        Raises `OSError` if it cannot be read, and `NotLoadable`, with a finding, if it has no valid frontmatter.
        """
        cached = self._cache.get(path)
        if cached is not None and cached[0] == _file_key(os.stat(path)):
            return cached[1]
        data, state = read_regular_file(path, HEAD_SIZE + 1)
        self.reads += 1
        if state.st_size > MAX_FILE_SIZE:
            raise not_loadable("too-large", f"the file is over {MAX_FILE_SIZE} bytes")
        front = extract_frontmatter(data)
        # Almost every frontmatter fits into the head. If its end is not in there, read the whole file.
        if front is None and len(data) > HEAD_SIZE:
            front = read_regular_file(path, MAX_FILE_SIZE + 1)[0]
        result = CachedHead(read_head(data if front is None else front), (state.st_dev, state.st_ino))
        if state.st_ctime_ns < time.time_ns() - self._settle_ns:
            self._cache[path] = (_file_key(state), result)
        return result


def _file_key(state: os.stat_result) -> tuple[int, FileStat]:
    return (state.st_dev, to_file_stat(state))
