"""Build the registry of a skills directory without reading files that the stat cache vouches for."""

import os
from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError
from skillpm.formats.receipt import InstalledSkill, Receipt
from skillpm.formats.registry import RegistryEntry, read_registry
from skillpm.installer.disk.disk_state import find_changes, walk_files
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.skill_file import find_skill_file, read_skill_file
from skillpm.installer.disk.stat_cache import FileStat, StatCache, to_file_stat
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, find_escaping_links, has_escaping_link
from skillpm.registry.build_state import BuildResult, PriorState, RegistryProblem
from skillpm.registry.metadata_overlay import add_legacy_metadata, digest_legacy_metadata
from skillpm.registry.unmanaged_skills import ReadSkillFile, find_unchanged, read_unmanaged_skills


class StagedSkill(Value):
    """A skill that is staged and about to be put into place."""

    # The content of its SKILL.md.
    data: bytes
    file_stats: Mapping[str, FileStat]
    # Its content differs from what the receipt says (a restored backup).
    is_edited: bool = False
    # The actual name of its SKILL.md.
    file_name: str = SKILL_FILE


class PendingChanges(Value):
    """How the directory will differ from what is on disk."""

    new_skills: Mapping[SkillName, StagedSkill] = EMPTY_MAPPING
    removed_skills: Collection[SkillName] = ()
    # Installed skills whose files were all checked just now.
    intact_skills: Collection[SkillName] = ()
    # Skills that an unfinished change has not put into place yet, for a reader.
    staged_skills: Collection[SkillName] = ()
    # Return an incomplete result (not `is_unchanged`) instead of reading a SKILL.md.
    is_cache_only: bool = False


def load_prior_state(layout: Layout, text: str | None, stat_cache: StatCache) -> PriorState:
    """Return the entries of a registry, if the file is still the one that the stat cache was written with.

    An edited or checked-out registry must not be mixed with stats that belong to another one.
    """
    try:
        state = os.stat(layout.registry)
        if text is not None and stat_cache.file_stats.get("", {}).get("skills.json") == to_file_stat(state):
            entries, disabled = read_registry(text, layout.registry)
            return PriorState(entries=entries, stat_cache=stat_cache, disabled=disabled)
    except (OSError, DocumentError):
        pass
    return PriorState(entries={}, stat_cache=stat_cache)


def build_registry(
    layout: Layout,
    receipt: Receipt,
    prior: PriorState,
    pending: PendingChanges,
    *,
    disabled: Collection[str] = (),
    locate_skill: Callable[[str], str] | None = None,
) -> BuildResult:
    """Build the registry for a directory as it will be after a change.

    `receipt` is the one that will be in place then. `locate_skill`, for readers during a change, returns where a
    skill's folder currently is.
    """
    result = BuildResult()
    result.metadata_digest = digest_legacy_metadata(receipt)
    if prior.stat_cache.file_stats.get("", {}).get("inherited", "") != result.metadata_digest:
        prior = prior.replace(entries={})  # the receipt adds other metadata now than when they were built
    new_skills = pending.new_skills
    names = {SkillName(name) for name in list_folders(layout.directory)}
    if locate_skill is not None:
        names |= {*receipt.skills, *pending.staged_skills}
    unmanaged = (
        names - receipt.skills.keys() - new_skills.keys() - {*pending.removed_skills} - {*map(SkillName, disabled)}
    )
    unchanged = find_unchanged(layout.directory, unmanaged, prior.entries, prior.stat_cache)
    if pending.is_cache_only and (prior.disabled is None or len(unchanged) < len(unmanaged)):
        return result
    # Unchanged skills were checked when they were read.
    outside = find_escaping_links(layout, unmanaged - unchanged.keys())
    unread = sorted(unmanaged - unchanged.keys() - outside)
    skill_files = read_unmanaged_skills({name: (locate_skill or layout.skill_path)(name) for name in unread})
    skill_files |= dict.fromkeys(outside, ReadSkillFile("", None, ESCAPING_LINK_MESSAGE))
    for name in sorted((names - {*pending.removed_skills}) | {*new_skills}):
        installed = receipt.skills.get(name)
        if name in disabled:
            result.disabled.append(name)
        elif name in new_skills:
            staged = new_skills[name]
            add_skill_bytes(result, f"{name}/{staged.file_name}", staged.data, installed, is_edited=staged.is_edited)
            result.file_stats[name] = new_skills[name].file_stats
        elif name in unchanged:
            result.entries[name] = unchanged[name]
            result.file_stats[name] = prior.stat_cache.file_stats[name]
        elif installed is None:
            add_unmanaged_skill(result, name, skill_files[name])
        elif (
            name in pending.intact_skills
            and name in prior.entries
            and matches_installed(prior.entries[name], installed)
        ):
            result.entries[name] = prior.entries[name]
            result.file_stats[name] = prior.stat_cache.file_stats.get(name, {})
        else:
            add_installed_skill(result, layout, (locate_skill or layout.skill_path)(name), name, installed, prior)
    add_legacy_metadata(result.entries, receipt)
    verified = unchanged.keys() | result.intact
    result.is_unchanged = verified == result.entries.keys() == prior.entries.keys() and prior.disabled == (
        *result.disabled,
    )
    return result


def list_folders(directory: str) -> list[str]:
    """Return the names of the visible folders in a skills directory, links to folders included."""
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".") and _is_folder(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a symlink loop
        return False


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
