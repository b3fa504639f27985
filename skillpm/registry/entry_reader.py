"""Add one skill to a registry build: an installed one, an unmanaged one, or one from given bytes."""

import os

from skillpm.formats.receipt import InstalledSkill
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.disk.disk_state import find_changes, walk_files
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.skill_file import find_skill_file, read_skill_file
from skillpm.installer.disk.stat_cache import to_file_stat
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, has_escaping_link
from skillpm.registry.build_state import BuildResult, PriorState, RegistryProblem
from skillpm.registry.unmanaged_skills import ReadSkillFile


def add_installed_skill(
    result: BuildResult, layout: Layout, folder: str, name: str, installed: InstalledSkill, prior: PriorState
) -> None:
    """Add an installed skill as it is on disk, with its previous entry if none of its files has changed."""
    try:
        states = _stat_files(folder, installed)
        prior_entry = prior.entries.get(name)
        recorded = prior.stat_cache.file_stats.get(name, {})
        if (
            prior_entry is not None
            and len(states) == len(recorded)
            and matches_installed(prior_entry, installed)
            and all(prior.stat_cache.trusts(name, file, state) for file, state in states.items())
        ):
            result.entries[name] = prior_entry
            result.intact.add(name)
        elif has_escaping_link(layout, name):  # the receipt proves nothing: a hostile project can ship one
            result.problems.append(
                RegistryProblem(path=f"{name}/{find_skill_file(folder)}", message=ESCAPING_LINK_MESSAGE)
            )
            return
        else:
            edited = any(find_changes(folder, name, installed.files, prior.stat_cache))
            path, data = f"{name}/{find_skill_file(folder)}", read_skill_file(folder)
            add_skill_bytes(result, path, data, installed, is_edited=edited)
            if edited:  # as installed, it is the author's text
                from skillpm.core.conflict_markers import conflict_warning  # noqa: PLC0415  (few skills are edited)

                if warning := conflict_warning(data):
                    result.warnings.append(RegistryProblem(path=path, message=warning))
                    return
        result.file_stats[name] = {path: to_file_stat(state) for path, state in states.items()}
    except OSError as error:
        file = find_skill_file(folder)
        if isinstance(error, FileNotFoundError) and not os.path.lexists(f"{folder}/{file}"):
            return  # no SKILL.md any more: the skill is just missing from the registry
        result.problems.append(RegistryProblem(path=f"{name}/{file}", message=error.strerror or "cannot be read"))


def matches_installed(entry: RegistryEntry, installed: InstalledSkill) -> bool:
    """Return whether an entry was built for the version of the skill that the receipt records."""
    return (
        entry.get("digest", "") == (installed.digest or "")
        and entry.get("source") == installed.pin.describe()
        and (not installed.version or entry.get("version") == installed.version)
    )


def _stat_files(folder: str, installed: InstalledSkill) -> dict[str, os.stat_result]:
    """Return the stats of the relevant files: all files of an installed skill, only SKILL.md of a live link."""
    if installed.digest is None:
        file = find_skill_file(folder)
        return {file: os.stat(f"{folder}/{file}")}
    return {path: entry.stat(follow_symlinks=False) for path, entry in walk_files(folder)}


def add_unmanaged_skill(result: BuildResult, name: str, skill_file: ReadSkillFile) -> None:
    """Add an unmanaged skill; a folder without a SKILL.md is ignored."""
    if skill_file.entry is not None:
        result.entries[name] = skill_file.entry
        if skill_file.warning:
            result.warnings.append(RegistryProblem(path=f"{name}/{skill_file.file}", message=skill_file.warning))
            return
    elif skill_file.reason:
        result.problems.append(RegistryProblem(path=f"{name}/{skill_file.file}", message=skill_file.reason))
    if skill_file.file_stat:
        result.file_stats[name] = {skill_file.file: skill_file.file_stat}


def add_skill_bytes(
    result: BuildResult, path: str, data: bytes, installed: InstalledSkill | None, *, is_edited: bool
) -> None:
    """Add a skill from the bytes of its SKILL.md; `path` is that file relative to the directory, `NAME/SKILL.md`."""
    # Imported here because it loads a YAML library, which an unchanged registry does not need.
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
