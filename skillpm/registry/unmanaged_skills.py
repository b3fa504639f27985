"""Read unmanaged skills: those in the skills directory that skillpm did not install. Thousands are read in parallel."""

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from skillpm.core.conflict_markers import conflict_warning
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.skill_file import find_skill_file, read_skill_file
from skillpm.installer.stat_cache import FileStat, StatCache, to_file_stat

PARALLEL_THRESHOLD = 2_000  # starting a process takes as long as reading a few hundred skills
MAX_PROCESSES = 4


class ReadSkillFile(NamedTuple):
    """The result of reading one SKILL.md."""

    # Empty if the file could not be read.
    file_stat: FileStat
    entry: RegistryEntry | None
    # Why the entry is missing; empty if the folder has no SKILL.md.
    reason: str = ""
    # The actual name of the SKILL.md.
    file: str = SKILL_FILE
    # For the owner of a skill that can be read.
    warning: str = ""


def find_unchanged(
    directory: str, names: Collection[SkillName], entries: Mapping[str, RegistryEntry], stat_cache: StatCache
) -> dict[SkillName, RegistryEntry]:
    """Return the entries of unmanaged skills whose SKILL.md is certainly unchanged.

    One `stat` each and nothing else: this loop determines how long listing ten thousand skills takes.
    """
    unchanged = {}
    file_stats, trusted_before, stat = stat_cache.file_stats, stat_cache.trusted_before, os.stat
    for name, entry in entries.items():  # sorted by name, so that neighboring folders are read together
        if name not in names or name not in file_stats or "source" in entry:
            continue
        try:
            state = stat(f"{directory}/{name}/{SKILL_FILE}")
        except OSError:
            continue
        if state.st_ctime_ns < trusted_before and file_stats[name].get(SKILL_FILE) == to_file_stat(state):
            unchanged[SkillName(name)] = entry
    return unchanged


def read_unmanaged_skills(folders: Mapping[str, str]) -> dict[str, ReadSkillFile]:
    """Read the SKILL.md of each folder (name -> path). Does not raise: a result without an entry has a reason."""
    items = list(folders.items())
    if not items:
        return {}
    processes = min(_cpu_count(), MAX_PROCESSES) if len(items) >= PARALLEL_THRESHOLD else 1
    # Forking a process with several threads can deadlock: a lock held by another thread stays locked in the child.
    if processes == 1 or not hasattr(os, "fork") or threading.active_count() > 1:
        return _read_skills(items)
    return _read_in_parallel([items[first::processes] for first in range(processes)])


def _read_in_parallel(parts: Sequence[list[tuple[str, str]]]) -> dict[str, ReadSkillFile]:
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  (slow to import, rarely needed)
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import get_context  # noqa: PLC0415

    results: dict[str, ReadSkillFile] = {}
    with ProcessPoolExecutor(len(parts) - 1, mp_context=get_context("fork"), initializer=_ignore_interrupts) as pool:
        futures = [(part, pool.submit(_read_skills, part)) for part in parts[1:]]
        results |= _read_skills(parts[0])
        for part, future in futures:
            try:
                results |= future.result()
            except BrokenProcessPool:  # a worker was killed, say for lack of memory
                results |= _read_skills(part)
    return results


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C in a worker: the parent handles it and waits for the workers, which finish soon."""
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _cpu_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _read_skills(folders: Sequence[tuple[str, str]]) -> dict[str, ReadSkillFile]:
    # Imported here because it loads a YAML library, which an unchanged registry does not need.
    from skillpm.registry.entry import build_entry  # noqa: PLC0415
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

    results = {}
    for name, folder in folders:
        file_stat, file = "", find_skill_file(folder)
        try:
            file_stat = to_file_stat(os.stat(f"{folder}/{file}"))
            data = read_skill_file(folder, file)
            entry = build_entry(name, f"{name}/{file}", data, pin=None, digest=None)
            results[name] = ReadSkillFile(file_stat, entry, file=file, warning=conflict_warning(data))
        except NotLoadable as error:
            results[name] = ReadSkillFile(file_stat, None, f"line {error.finding.line}: {error.finding.message}", file)
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError) and not os.path.lexists(f"{folder}/{file}")
            results[name] = ReadSkillFile(
                file_stat, None, "" if is_missing else error.strerror or "cannot be read", file
            )
    return results
