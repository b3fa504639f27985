"""The stat cache: the stats of files whose content is known, so that unchanged files are not hashed again (ADR 7).

Hashing ten thousand skills takes a second and more, a `stat` for each a fraction of that. A stale entry, however, would
hide an edit, and the next update would destroy it. So a file is trusted only if

- its size, mtime, ctime and inode are the recorded ones. Editors, archives and git set mtime; no program can set ctime
  without changing the system clock.
- its ctime is at least one tick of the file system's clock older than the cache. Two writes within one tick get the
  same times, so a file touched later than that may have changed again without a trace.

Everything else is hashed. The cache may be deleted at any time; `verify` and `registry check` ignore it.
"""

import json
import os
import sys
import time
from collections.abc import Mapping

from skillpm.core.json_text.decoder import load_json
from skillpm.core.limits import MAX_DOCUMENT_SIZE
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.files import read_regular_file, write_document

FORMAT = 1
CLOCK_REALTIME_COARSE = 5  # <linux/time.h>: the clock behind Linux's file times; Python has no name for it
RECENT_NS = 50_000_000  # nanoseconds; longer than the tick of any file system clock (20 ms)
UNKNOWN_TICK = 20_000_000  # nanoseconds, longer than the tick of any known system

FileStat = str  # as `to_file_stat` returns it: a string is compared, stored in JSON and read back without conversion


class StatCache(Value):
    """The recorded stats."""

    # Only files whose ctime is before this time can be trusted; nanoseconds since the epoch.
    trusted_before: int = 0
    # Skill -> path in the skill -> stat. The skill "" has the registry's own stat, under `skills.json`.
    file_stats: Mapping[str, Mapping[str, FileStat]] = EMPTY_MAPPING

    def trusts(self, skill: str, path: str, state: os.stat_result) -> bool:
        """Return whether a file is certainly unchanged since it was recorded."""
        recorded = self.file_stats.get(skill)
        return (
            recorded is not None
            and state.st_ctime_ns < self.trusted_before
            and recorded.get(path) == to_file_stat(state)
        )


def to_file_stat(state: os.stat_result) -> FileStat:
    """Return the size, mtime, ctime and inode of a file as one comparable string."""
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}"


def read_file_stat(path: str) -> FileStat:
    """Return the stat of a file; empty if it cannot be read."""
    try:
        return to_file_stat(os.stat(path))
    except OSError:
        return ""


def is_recent(file_stat: FileStat) -> bool:
    """Return whether a file changed so recently that another change could leave the same stat."""
    return bool(file_stat) and int(file_stat.split()[2]) > time.time_ns() - RECENT_NS


def read_stat_cache(path: str) -> StatCache:
    """Return the stat cache; an empty one if it is missing or damaged."""
    try:
        value = load_json(read_regular_file(path, MAX_DOCUMENT_SIZE).decode())
        trusted_before, file_stats = value["at"], value["stamps"]
        is_valid = isinstance(trusted_before, int) and isinstance(file_stats, dict)
        if value["version"] == FORMAT and is_valid and all(isinstance(stats, dict) for stats in file_stats.values()):
            return StatCache(trusted_before=trusted_before, file_stats=file_stats)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return StatCache()


def write_stat_cache(path: str, file_stats: Mapping[str, Mapping[str, FileStat]]) -> None:
    """Write the stat cache. A failure is ignored: it only costs time later."""
    trusted_before = time.time_ns() - clock_tick()
    text = json.dumps({"version": FORMAT, "at": trusted_before, "stamps": file_stats}, separators=(",", ":"))
    try:
        write_document(path, text.encode(), fsync=False)
    except OSError:
        return


def clock_tick() -> int:
    """Return the longest time, in nanoseconds, in which two writes can get the same file times."""
    if sys.platform == "linux":
        return int(time.clock_getres(CLOCK_REALTIME_COARSE) * 1e9)
    else:  # noqa: RET505  (mypy for Linux would find what follows unreachable)
        return UNKNOWN_TICK
