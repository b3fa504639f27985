"""One skill taken into the registry: as it lies there, as somebody made it, or as it is about to be put there."""

import os

from skillpm.core.conflict_markers import conflict_warning
from skillpm.formats.pin import describe_pin
from skillpm.formats.receipt import InstalledSkill
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.disk_state import find_changes, walk_files
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, has_escaping_link
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import find_skill_file, read_skill_file
from skillpm.installer.stat_cache import to_file_stat
from skillpm.registry.build_state import BuildResult, PriorState, RegistryProblem
from skillpm.registry.unmanaged_skills import ReadSkillFile


def add_installed_skill(
    result: BuildResult, layout: Layout, folder: str, name: str, installed: InstalledSkill, prior: PriorState
) -> None:
    """Take one skill that was installed as it lies there, from the old registry when nothing of it has changed."""
    try:
        states = _stat_files(folder, installed)
        old = prior.entries.get(name)
        recorded = prior.stat_cache.file_stats.get(name, {})
        if (
            old is not None
            and len(states) == len(recorded)
            and matches_installed(old, installed)
            and all(prior.stat_cache.trusts(name, file, state) for file, state in states.items())
        ):
            result.entries[name] = old
            result.intact.add(name)
        elif has_escaping_link(layout, name):  # a receipt says what was installed, and may be part of what was sent
            result.problems.append(
                RegistryProblem(path=f"{name}/{find_skill_file(folder)}", message=ESCAPING_LINK_MESSAGE)
            )
            return
        else:
            edited = any(find_changes(folder, name, installed.files, prior.stat_cache))
            path, data = f"{name}/{find_skill_file(folder)}", read_skill_file(folder)
            add_skill_bytes(result, path, data, installed, is_edited=edited)
            if edited and (remark := conflict_warning(data)):  # what came so is its author's to mend
                result.warnings.append(RegistryProblem(path=path, message=remark))
                return
        if not result.is_read_only:
            result.file_stats[name] = {path: to_file_stat(state) for path, state in states.items()}
    except OSError as error:
        file = find_skill_file(folder)
        if isinstance(error, FileNotFoundError) and not os.path.lexists(f"{folder}/{file}"):
            return  # it is gone: whoever asks sees that it is not in the registry
        result.problems.append(RegistryProblem(path=f"{name}/{file}", message=error.strerror or "cannot be read"))


def matches_installed(entry: RegistryEntry, installed: InstalledSkill) -> bool:
    """Tell whether an entry was made for the very skill that the receipt knows."""
    return (
        entry.get("digest", "") == (installed.digest or "")
        and entry.get("source") == describe_pin(installed.pin)
        and (not installed.version or entry.get("version") == installed.version)
    )


def _stat_files(folder: str, installed: InstalledSkill) -> dict[str, os.stat_result]:
    """Give the states of the files that matter: all of an installed skill, the SKILL.md of a live link."""
    if installed.digest is None:
        file = find_skill_file(folder)
        return {file: os.stat(f"{folder}/{file}")}
    return {path: entry.stat(follow_symlinks=False) for path, entry in walk_files(folder)}


def add_unmanaged_skill(result: BuildResult, name: str, skill_file: ReadSkillFile) -> None:
    """Take one skill that somebody made by hand; without a SKILL.md it is none."""
    if skill_file.entry is not None:
        result.entries[name] = skill_file.entry
        if skill_file.warning:
            result.warnings.append(RegistryProblem(path=f"{name}/{skill_file.file}", message=skill_file.warning))
            return
    elif skill_file.reason:
        result.problems.append(RegistryProblem(path=f"{name}/{skill_file.file}", message=skill_file.reason))
    if skill_file.file_stat and not result.is_read_only:
        result.file_stats[name] = {skill_file.file: skill_file.file_stat}


def add_skill_bytes(
    result: BuildResult, path: str, data: bytes, installed: InstalledSkill | None, *, is_edited: bool
) -> None:
    """Take one skill whose file is at `path` of the directory, `NAME/SKILL.md`."""
    # The reader brings a YAML library with it: only who must read a SKILL.md pays for it.
    from skillpm.registry.entry import build_entry  # noqa: PLC0415
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

    name = path.rpartition("/")[0]
    try:
        result.entries[name] = build_entry(
            name,
            path,
            data,
            pin=None if installed is None else installed.pin,
            digest=None if installed is None or is_edited else installed.digest,
            version="" if installed is None else installed.version,
        )
    except NotLoadable as error:
        message = f"line {error.finding.line}: {error.finding.message}"
        result.problems.append(RegistryProblem(path=path, message=message))
