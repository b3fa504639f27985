"""Build the registry from what lies in a skills directory; files the stat cache vouches for are not read again."""

import os
from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.values import NOTHING, Value
from skillpm.errors import DocumentError
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.escaping_links import LEADS_OUT, those_leading_out
from skillpm.installer.layout import Layout
from skillpm.installer.stat_cache import Scan, Stamp, stamp_of
from skillpm.registry.build_state import Built, Known
from skillpm.registry.entry_reader import speaks_of, take_bytes, take_from_disk, take_handmade
from skillpm.registry.metadata_overlay import add_inherited, mark_of
from skillpm.registry.unmanaged_skills import Reading, read_by_hand, still_true


class Fresh(Value):
    """A skill that is about to be put in place: the bytes of its SKILL.md, the stamps of its staged files, and
    whether its content is another one than the receipt says (a restored backup). `file` is what that is called.
    """

    data: bytes
    stamps: Mapping[str, Stamp]
    edited: bool = False
    file: str = SKILL_FILE


class Ahead(Value):
    """What is to be otherwise than it lies there: skills that come and that are gone.

    `intact` are installed skills that were looked at just now, every file of them; `staged` are not at their place
    yet, for a reader during a change. `only_known`: give up, as not being as known, before a SKILL.md has to be read.
    """

    fresh: Mapping[SkillName, Fresh] = NOTHING
    gone: Collection[SkillName] = ()
    intact: Collection[SkillName] = ()
    staged: Collection[SkillName] = ()
    only_known: bool = False


def known_registry(layout: Layout, text: str | None, scan: Scan) -> Known:
    """Give the registry and cache, if the file is still the one the cache was made for."""
    try:
        state = os.stat(layout.registry)
        if text is not None and scan.stamps.get("", {}).get("skills.json") == stamp_of(state):
            entries, disabled = read_registry(text, layout.registry)
            return Known(entries=entries, scan=scan, disabled=disabled)
    except (OSError, DocumentError):
        pass
    return Known(entries={}, scan=scan)


def build_registry(
    layout: Layout,
    receipt: Receipt,
    known: Known,
    ahead: Ahead,
    *,
    disabled: Collection[str] = (),
    place: Callable[[str], str] | None = None,
) -> Built:
    """Build the registry for a directory as it will be. `receipt` is the one that will hold then.

    `place` tells where a skill's folder is, for a reader during a change.
    """
    built = Built(for_reading=place is not None, inherited=mark_of(receipt))
    if known.scan.stamps.get("", {}).get("inherited", "") != built.inherited:
        known = known.but(entries={})  # they were made with other facts beside their files
    coming = ahead.fresh
    there = {SkillName(name) for name in folders_in(layout.directory)}
    if place is not None:
        there |= {*receipt.skills, *ahead.staged}
    by_hand = there - receipt.skills.keys() - coming.keys() - {*ahead.gone} - {*map(SkillName, disabled)}
    unchanged = still_true(layout.directory, by_hand, known.entries, known.scan)
    if ahead.only_known and (known.disabled is None or len(unchanged) < len(by_hand)):
        return built
    outside = those_leading_out(layout, by_hand - unchanged.keys())  # what is unchanged was looked at when it was read
    unread = sorted(by_hand - unchanged.keys() - outside)
    read = read_by_hand({name: (place or layout.skill)(name) for name in unread})
    read |= dict.fromkeys(outside, Reading("", None, LEADS_OUT))
    for name in sorted((there - {*ahead.gone}) | {*coming}):
        installed = receipt.skills.get(name)
        if name in disabled:
            built.disabled.append(name)
        elif name in coming:
            fresh = coming[name]
            take_bytes(built, f"{name}/{fresh.file}", fresh.data, installed, edited=fresh.edited)
            built.stamps[name] = coming[name].stamps
        elif name in unchanged:
            built.entries[name] = unchanged[name]
            built.stamps[name] = known.scan.stamps[name]
        elif installed is None:
            take_handmade(built, name, read[name])
        elif name in ahead.intact and name in known.entries and speaks_of(known.entries[name], installed):
            built.entries[name] = known.entries[name]
            built.stamps[name] = known.scan.stamps.get(name, {})
        else:
            take_from_disk(built, layout, (place or layout.skill)(name), name, installed, known)
    add_inherited(built.entries, receipt)
    seen = unchanged.keys() | built.intact
    built.is_as_known = seen == built.entries.keys() == known.entries.keys() and known.disabled == (*built.disabled,)
    return built


def folders_in(directory: str) -> list[str]:
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
