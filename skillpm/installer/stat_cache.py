"""The stat cache: how files were when their content was last known, so that unchanged files are not read again.

It can be deleted at any time. A file is only trusted when size, times and inode are what they were and it was
written at least one tick of the file system's clock before the cache: a later write within a tick would not show.
"""

import json
import os
import sys
import time
from collections.abc import Mapping

from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.files import read_regular_file, write_document

FORMAT = 1
CLOCK_REALTIME_COARSE = 5  # <linux/time.h>: what Linux stamps files with; Python has no name for it
UNKNOWN_TICK = 20_000_000  # ns

FileStat = str


class StatCache(Value):
    """Stamps of files by skill and path, the registry's own under `""`; files that
    last changed before `at` can be trusted.
    """

    trusted_before: int = 0
    file_stats: Mapping[str, Mapping[str, FileStat]] = EMPTY_MAPPING

    def trusts(self, skill: str, path: str, state: os.stat_result) -> bool:
        """Tell whether a file is surely as it was."""
        known = self.file_stats.get(skill)
        return known is not None and state.st_ctime_ns < self.trusted_before and known.get(path) == to_file_stat(state)


def to_file_stat(state: os.stat_result) -> FileStat:
    """Give what changes when a file does: size, times of content and of state, inode."""
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}"


def read_stat_cache(path: str) -> StatCache:
    """Give the cache; an empty one where it cannot be read."""
    try:
        value = json.loads(read_regular_file(path))
        at, stamps = value["at"], value["stamps"]
        is_whole = isinstance(at, int) and isinstance(stamps, dict)
        if value["version"] == FORMAT and is_whole and all(isinstance(found, dict) for found in stamps.values()):
            return StatCache(trusted_before=at, file_stats=stamps)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return StatCache()


def write_stat_cache(path: str, file_stats: Mapping[str, Mapping[str, FileStat]]) -> None:
    """Write the cache; a failure only costs time later."""
    now = time.time_ns() - _clock_tick()
    text = json.dumps({"version": FORMAT, "at": now, "stamps": file_stats}, separators=(",", ":"))
    try:
        write_document(path, text.encode(), fsync=False)
    except OSError:
        return


def _clock_tick() -> int:
    """Give how long two writes can look simultaneous, in nanoseconds."""
    return int(time.clock_getres(CLOCK_REALTIME_COARSE) * 1e9) if sys.platform == "linux" else UNKNOWN_TICK
