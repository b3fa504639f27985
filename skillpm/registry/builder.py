"""Build the registry of a skills directory without reading files that the stat cache vouches for."""

import os
from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.stat_cache import FileStat, StatCache, to_file_stat
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, find_escaping_links
from skillpm.registry.build_state import BuildResult, PriorState
from skillpm.registry.entry_reader import add_installed_skill, add_skill_bytes, add_unmanaged_skill, matches_installed
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
