"""Build the registry from what lies in a skills directory; files the stat cache vouches for are not read again."""

import os
from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, find_escaping_links
from skillpm.installer.layout import Layout
from skillpm.installer.stat_cache import FileStat, StatCache, to_file_stat
from skillpm.registry.build_state import BuildResult, PriorState
from skillpm.registry.entry_reader import add_installed_skill, add_skill_bytes, add_unmanaged_skill, matches_installed
from skillpm.registry.metadata_overlay import add_legacy_metadata, digest_legacy_metadata
from skillpm.registry.unmanaged_skills import ReadSkillFile, find_unchanged, read_unmanaged_skills


class StagedSkill(Value):
    """A skill that is about to be put in place: the bytes of its SKILL.md, the stamps of its staged files, and
    whether its content is another one than the receipt says (a restored backup). `file` is what that is called.
    """

    data: bytes
    file_stats: Mapping[str, FileStat]
    is_edited: bool = False
    file_name: str = SKILL_FILE


class PendingChanges(Value):
    """What is to be otherwise than it lies there: skills that come and that are gone.

    `intact` are installed skills that were looked at just now, every file of them; `staged` are not at their place
    yet, for a reader during a change. `only_known`: give up, as not being as known, before a SKILL.md has to be read.
    """

    new_skills: Mapping[SkillName, StagedSkill] = EMPTY_MAPPING
    removed_skills: Collection[SkillName] = ()
    intact_skills: Collection[SkillName] = ()
    staged_skills: Collection[SkillName] = ()
    is_cache_only: bool = False


def load_prior_state(layout: Layout, text: str | None, stat_cache: StatCache) -> PriorState:
    """Give the registry and cache, if the file is still the one the cache was made for."""
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
    """Build the registry for a directory as it will be. `receipt` is the one that will hold then.

    `place` tells where a skill's folder is, for a reader during a change.
    """
    built = BuildResult(is_read_only=locate_skill is not None, metadata_digest=digest_legacy_metadata(receipt))
    if prior.stat_cache.file_stats.get("", {}).get("inherited", "") != built.metadata_digest:
        prior = prior.replace(entries={})  # they were made with other facts beside their files
    coming = pending.new_skills
    there = {SkillName(name) for name in list_folders(layout.directory)}
    if locate_skill is not None:
        there |= {*receipt.skills, *pending.staged_skills}
    by_hand = there - receipt.skills.keys() - coming.keys() - {*pending.removed_skills} - {*map(SkillName, disabled)}
    unchanged = find_unchanged(layout.directory, by_hand, prior.entries, prior.stat_cache)
    if pending.is_cache_only and (prior.disabled is None or len(unchanged) < len(by_hand)):
        return built
    outside = find_escaping_links(
        layout, by_hand - unchanged.keys()
    )  # what is unchanged was looked at when it was read
    unread = sorted(by_hand - unchanged.keys() - outside)
    read = read_unmanaged_skills({name: (locate_skill or layout.skill_path)(name) for name in unread})
    read |= dict.fromkeys(outside, ReadSkillFile("", None, ESCAPING_LINK_MESSAGE))
    for name in sorted((there - {*pending.removed_skills}) | {*coming}):
        installed = receipt.skills.get(name)
        if name in disabled:
            built.disabled.append(name)
        elif name in coming:
            fresh = coming[name]
            add_skill_bytes(built, f"{name}/{fresh.file_name}", fresh.data, installed, is_edited=fresh.is_edited)
            built.file_stats[name] = coming[name].file_stats
        elif name in unchanged:
            built.entries[name] = unchanged[name]
            built.file_stats[name] = prior.stat_cache.file_stats[name]
        elif installed is None:
            add_unmanaged_skill(built, name, read[name])
        elif (
            name in pending.intact_skills
            and name in prior.entries
            and matches_installed(prior.entries[name], installed)
        ):
            built.entries[name] = prior.entries[name]
            built.file_stats[name] = prior.stat_cache.file_stats.get(name, {})
        else:
            add_installed_skill(built, layout, (locate_skill or layout.skill_path)(name), name, installed, prior)
    add_legacy_metadata(built.entries, receipt)
    seen = unchanged.keys() | built.intact
    built.is_unchanged = seen == built.entries.keys() == prior.entries.keys() and prior.disabled == (*built.disabled,)
    return built


def list_folders(directory: str) -> list[str]:
    """Give the names of all folders in a skills directory; a link to a folder is one."""
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".") and _is_folder(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that goes in a circle
        return False
