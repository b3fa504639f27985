"""Skills that people made by hand, read as they lie; thousands of them on all processors at once."""

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from skillpm.core.conflict_markers import conflict_warning
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.skill_file import find_skill_file, read_skill_file
from skillpm.installer.stat_cache import FileStat, StatCache, to_file_stat

PARALLEL_THRESHOLD = 2_000  # starting another process takes as long as reading some hundred
MAX_PROCESSES = 4


class ReadSkillFile(NamedTuple):
    """What one SKILL.md gave: its stamp, and its entry, or why there is none. No reason: there is no SKILL.md.

    `remark` is what its owner should be told of one that can be read.
    """

    file_stat: FileStat
    entry: RegistryEntry | None
    reason: str = ""
    file: str = SKILL_FILE
    warning: str = ""


def find_unchanged(
    directory: str, names: Collection[SkillName], entries: Mapping[str, RegistryEntry], stat_cache: StatCache
) -> dict[SkillName, RegistryEntry]:
    """Give the entries of hand-made skills whose SKILL.md is surely as it was.

    One look each and nothing else: this loop is what listing ten thousand skills takes.
    """
    found = {}
    stamps, latest, stat = stat_cache.file_stats, stat_cache.trusted_before, os.stat
    for name, entry in entries.items():  # in the document's order: what lies together is read together
        if name not in names or name not in stamps or "source" in entry:
            continue
        try:
            state = stat(f"{directory}/{name}/{SKILL_FILE}")
        except OSError:
            continue
        if state.st_ctime_ns < latest and stamps[name].get(SKILL_FILE) == to_file_stat(state):
            found[SkillName(name)] = entry
    return found


def read_unmanaged_skills(folders: Mapping[str, str]) -> dict[str, ReadSkillFile]:
    """Read the SKILL.md of each folder (name to path). Nothing is raised: what cannot be read says why."""
    every = list(folders.items())
    if not every:
        return {}
    processes = min(_cpu_count(), MAX_PROCESSES) if len(every) >= PARALLEL_THRESHOLD else 1
    # A process that has several threads must not be copied: a lock that another of them holds stays locked for ever.
    if processes == 1 or not hasattr(os, "fork") or threading.active_count() > 1:
        return _read_skills(every)
    return _read_in_parallel([every[first::processes] for first in range(processes)])


def _read_in_parallel(parts: Sequence[list[tuple[str, str]]]) -> dict[str, ReadSkillFile]:
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  (only who reads thousands pays for it)
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import get_context  # noqa: PLC0415

    found: dict[str, ReadSkillFile] = {}
    with ProcessPoolExecutor(len(parts) - 1, mp_context=get_context("fork"), initializer=_ignore_interrupts) as pool:
        futures = [(part, pool.submit(_read_skills, part)) for part in parts[1:]]
        found |= _read_skills(parts[0])
        for part, future in futures:
            try:
                found |= future.result()
            except BrokenProcessPool:  # somebody killed it
                found |= _read_skills(part)
    return found


def _ignore_interrupts() -> None:
    """Let the parent alone answer an interrupt: it waits for us, and we are soon done."""
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _cpu_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _read_skills(folders: Sequence[tuple[str, str]]) -> dict[str, ReadSkillFile]:
    # The reader brings a YAML library with it: only who must read a SKILL.md pays for it.
    from skillpm.registry.entry import build_entry  # noqa: PLC0415
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

    found = {}
    for name, folder in folders:
        stamp, file = "", find_skill_file(folder)
        try:
            stamp = to_file_stat(os.stat(f"{folder}/{file}"))
            data = read_skill_file(folder, file)
            entry = build_entry(name, f"{name}/{file}", data, pin=None, digest=None)
            found[name] = ReadSkillFile(stamp, entry, file=file, warning=conflict_warning(data))
        except NotLoadable as error:
            found[name] = ReadSkillFile(stamp, None, f"line {error.finding.line}: {error.finding.message}", file)
        except OSError as error:
            is_none = isinstance(error, FileNotFoundError) and not os.path.lexists(f"{folder}/{file}")
            found[name] = ReadSkillFile(stamp, None, "" if is_none else error.strerror or "cannot be read", file)
    return found
