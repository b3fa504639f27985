"""The stat cache: how files were when their content was last known, so that unchanged files are not read again.

It can be deleted at any time. A file is only trusted when size, times and inode are what they were and it was
written at least one tick of the file system's clock before the cache: a later write within a tick would not show.
"""

import json
import os
import sys
import time
from collections.abc import Mapping

from skillpm.core.values import NOTHING, Value
from skillpm.files import read_document, write_document

FORMAT = 1
CLOCK_REALTIME_COARSE = 5  # <linux/time.h>: what Linux stamps files with; Python has no name for it
UNKNOWN_TICK = 20_000_000  # ns

Stamp = str


class Scan(Value):
    """Stamps of files by skill and path, the registry's own under `""`; files that
    last changed before `at` can be trusted.
    """

    at: int = 0
    stamps: Mapping[str, Mapping[str, Stamp]] = NOTHING

    def trusts(self, skill: str, path: str, state: os.stat_result) -> bool:
        """Tell whether a file is surely as it was."""
        known = self.stamps.get(skill)
        return known is not None and state.st_ctime_ns < self.at and known.get(path) == stamp_of(state)


def stamp_of(state: os.stat_result) -> Stamp:
    """Give what changes when a file does: size, times of content and of state, inode."""
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}"


def read_scan(path: str) -> Scan:
    """Give the cache; an empty one where it cannot be read."""
    try:
        value = json.loads(read_document(path))
        at, stamps = value["at"], value["stamps"]
        is_whole = isinstance(at, int) and isinstance(stamps, dict)
        if value["version"] == FORMAT and is_whole and all(isinstance(found, dict) for found in stamps.values()):
            return Scan(at=at, stamps=stamps)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return Scan()


def write_scan(path: str, stamps: Mapping[str, Mapping[str, Stamp]]) -> None:
    """Write the cache; a failure only costs time later."""
    now = time.time_ns() - _tick()
    text = json.dumps({"version": FORMAT, "at": now, "stamps": stamps}, separators=(",", ":"))
    try:
        write_document(path, text.encode(), fsync=False)
    except OSError:
        return


def _tick() -> int:
    """Give how long two writes can look simultaneous, in nanoseconds."""
    return int(time.clock_getres(CLOCK_REALTIME_COARSE) * 1e9) if sys.platform == "linux" else UNKNOWN_TICK
