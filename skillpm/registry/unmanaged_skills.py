"""Read unmanaged skills: those in the skills directory that skillpm did not install."""

import json
import os
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import IO, NamedTuple

from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.disk.skill_file import find_skill_file, read_regular_file
from skillpm.installer.disk.stat_cache import FileStat, StatCache, to_file_stat

PARALLEL_THRESHOLD = 2_000  # a new process takes as long as some hundred files
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
    """Read the SKILL.md of each folder (name -> path). Does not raise: a result without an entry has a reason.

    Thousands are read by several processes.
    """
    items, count = list(folders.items()), 1
    # A forked copy of a process with threads would keep the locks that they hold.
    if len(items) >= PARALLEL_THRESHOLD and sys.platform == "linux" and threading.active_count() == 1:
        count = min(len(os.sched_getaffinity(0)), MAX_PROCESSES)
    shares = [items[first::count] for first in range(count)]
    others = [(share, *_read_in_child(share)) for share in shares[1:]]
    results = _read_skill_files(shares[0])
    for share, child, pipe in others:
        with pipe:
            try:
                results |= {name: ReadSkillFile(*values) for name, values in json.load(pipe).items()}
            except ValueError:  # the child was killed
                results |= _read_skill_files(share)
        os.waitpid(child, 0)
    return results


def _read_in_child(folders: Sequence[tuple[str, str]]) -> tuple[int, IO[str]]:
    """Start a process that reads skills; return its id, and the pipe to which it writes its results as JSON."""
    ours, theirs = os.pipe()
    if hasattr(os, "fork") and (child := os.fork()):
        os.close(theirs)
        return child, open(ours, encoding="utf-8")
    try:
        with open(theirs, "w", encoding="utf-8") as pipe:
            pipe.write(json.dumps(_read_skill_files(folders)))
    finally:
        os._exit(0)  # not the parent's clean-up, nor a traceback after Ctrl-C


def _read_skill_files(folders: Sequence[tuple[str, str]]) -> dict[str, ReadSkillFile]:
    if not folders:
        return {}
    # Imported here because it loads a YAML library, which an unchanged registry does not need.
    from skillpm.core.conflict_markers import conflict_warning  # noqa: PLC0415  (few projects have such skills)
    from skillpm.registry.entry import build_entry  # noqa: PLC0415
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

    results = {}
    for name, folder in folders:
        file_stat, file = "", find_skill_file(folder)
        try:
            data, state = read_regular_file(f"{folder}/{file}")
            file_stat = to_file_stat(state)
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
