"""Read unmanaged skills: those in the skills directory that skillpm did not install."""

import os
from collections.abc import Collection, Mapping
from typing import NamedTuple

from skillpm.core.conflict_markers import conflict_warning
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.skill_file import find_skill_file, read_skill_file
from skillpm.installer.stat_cache import FileStat, StatCache, to_file_stat


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
    if not folders:
        return {}
    # Imported here because it loads a YAML library, which an unchanged registry does not need.
    from skillpm.registry.entry import build_entry  # noqa: PLC0415
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

    results = {}
    for name, folder in folders.items():
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
