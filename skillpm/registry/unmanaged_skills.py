"""Skills that people made by hand, read as they lie; thousands of them on all processors at once."""

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from skillpm.core.conflict_markers import remark_on
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.skill_file import read_skill_file, skill_file_in
from skillpm.installer.stat_cache import Scan, Stamp, stamp_of

MANY = 2_000  # starting another process takes as long as reading some hundred
MOST_PROCESSES = 4


class Reading(NamedTuple):
    """What one SKILL.md gave: its stamp, and its entry, or why there is none. No reason: there is no SKILL.md.

    `remark` is what its owner should be told of one that can be read.
    """

    stamp: Stamp
    entry: RegistryEntry | None
    why: str = ""
    file: str = SKILL_FILE
    remark: str = ""


def still_true(
    directory: str, names: Collection[SkillName], entries: Mapping[str, RegistryEntry], scan: Scan
) -> dict[SkillName, RegistryEntry]:
    """Give the entries of hand-made skills whose SKILL.md is surely as it was.

    One look each and nothing else: this loop is what listing ten thousand skills takes.
    """
    found = {}
    stamps, latest, stat = scan.stamps, scan.at, os.stat
    for name, entry in entries.items():  # in the document's order: what lies together is read together
        if name not in names or name not in stamps or "source" in entry:
            continue
        try:
            state = stat(f"{directory}/{name}/{SKILL_FILE}")
        except OSError:
            continue
        if state.st_ctime_ns < latest and stamps[name].get(SKILL_FILE) == stamp_of(state):
            found[SkillName(name)] = entry
    return found


def read_by_hand(folders: Mapping[str, str]) -> dict[str, Reading]:
    """Read the SKILL.md of each folder (name to path). Nothing is raised: what cannot be read says why."""
    every = list(folders.items())
    if not every:
        return {}
    processes = min(_processors(), MOST_PROCESSES) if len(every) >= MANY else 1
    # A process that has several threads must not be copied: a lock that another of them holds stays locked for ever.
    if processes == 1 or not hasattr(os, "fork") or threading.active_count() > 1:
        return _read(every)
    return _read_together([every[first::processes] for first in range(processes)])


def _read_together(parts: Sequence[list[tuple[str, str]]]) -> dict[str, Reading]:
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  (only who reads thousands pays for it)
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import get_context  # noqa: PLC0415

    found: dict[str, Reading] = {}
    with ProcessPoolExecutor(len(parts) - 1, mp_context=get_context("fork"), initializer=_leave_to_parent) as pool:
        futures = [(part, pool.submit(_read, part)) for part in parts[1:]]
        found |= _read(parts[0])
        for part, future in futures:
            try:
                found |= future.result()
            except BrokenProcessPool:  # somebody killed it
                found |= _read(part)
    return found


def _leave_to_parent() -> None:
    """Let the parent alone answer an interrupt: it waits for us, and we are soon done."""
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _read(folders: Sequence[tuple[str, str]]) -> dict[str, Reading]:
    # The reader brings a YAML library with it: only who must read a SKILL.md pays for it.
    from skillpm.registry.entry import entry_of  # noqa: PLC0415
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

    found = {}
    for name, folder in folders:
        stamp, file = "", skill_file_in(folder)
        try:
            stamp = stamp_of(os.stat(f"{folder}/{file}"))
            data = read_skill_file(folder, file)
            entry = entry_of(name, f"{name}/{file}", data, pin=None, digest=None)
            found[name] = Reading(stamp, entry, file=file, remark=remark_on(data))
        except NotLoadable as error:
            found[name] = Reading(stamp, None, f"line {error.finding.line}: {error.finding.message}", file)
        except OSError as error:
            is_none = isinstance(error, FileNotFoundError) and not os.path.lexists(f"{folder}/{file}")
            found[name] = Reading(stamp, None, "" if is_none else error.strerror or "cannot be read", file)
    return found
