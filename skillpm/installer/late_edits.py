"""What left its place is looked at once more, and becomes a backup where it is anybody's work by now."""

import os
from collections.abc import Callable, Iterator

from skillpm.core.names import SkillName, is_skill_name
from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.formats.receipt import InstalledSkill, Receipt, read_receipt
from skillpm.installer.backups import create_agent_backup, create_backup
from skillpm.installer.disk_state import read_installed_state
from skillpm.installer.journal import Journal, read_inode, read_journal
from skillpm.installer.layout import Layout, load_receipt
from skillpm.installer.stat_cache import StatCache
from skillpm.installer.target import InstallTarget


def back_up_skill(
    layout: Layout, name: SkillName, path: str, old_receipt: Receipt, warn: Callable[[str], None]
) -> None:
    """Make a backup of what lies, or lay, at a skill's place, and tell."""
    slot = create_backup(layout, name, path, old_receipt.inherited.get(name))
    warn(f"what lay at {name} is kept as backup {slot}: `skillpm backup restore {slot}` brings it back")


def back_up_agent_entry(
    target: InstallTarget, folder: str, name: SkillName, path: str, warn: Callable[[str], None]
) -> None:
    """Make a backup of what lies, or lay, at a link's place in an agent folder, and tell."""
    place = os.path.join(target.link_folders.path(folder), name)
    slot = create_agent_backup(target.layout, name, path, folder, fsync=target.fsync)
    warn(f"what lay at {place} is kept as backup {slot}: `skillpm backup restore {slot}` brings it back there")


def back_up_late_edits(layout: Layout, journal: Journal, old_receipt: Receipt, warn: Callable[[str], None]) -> None:
    """Look once more at all that left its place, and set aside what is anybody's work by now.

    Only here: while a folder is in its place, each of its files may be written on after it was looked at.
    """
    names = {*journal.puts, *journal.removals}
    for name, path in [*_find_displaced(layout, journal)]:
        if name in names and _has_local_changes(path, name, old_receipt.skills.get(name)):
            back_up_skill(layout, name, path, old_receipt, warn)


def back_up_abandoned_change(layout: Layout, warn: Callable[[str], None]) -> None:
    """Set aside what is anybody's work of all that left its place for a change that is not to be finished."""
    before, after = _receipt_or_empty(layout, staged=False), _receipt_or_empty(layout, staged=True)
    try:
        journal = read_journal(layout)
    except DocumentError:
        journal = None
    for name, path in [*_find_displaced(layout, journal)]:
        new = after.skills.get(name)
        is_new = new is not None and not _has_local_changes(path, name, new)
        if not is_new and _has_local_changes(path, name, before.skills.get(name)):
            back_up_skill(layout, name, path, before, warn)


def _find_displaced(layout: Layout, journal: Journal | None) -> Iterator[tuple[SkillName, str]]:
    """Give what lies in staging and in the trash of skills that were in their place."""
    for slot in _list_names(layout.staging):
        path = os.path.join(layout.staging, slot)
        put = None if journal is None else journal.puts.get(SkillName(slot))
        if is_skill_name(slot) and (put is None or read_inode(path) != put.new_inode):
            yield SkillName(slot), path
    for slot in _list_names(layout.trash):
        name = slot.rpartition("-")[0]
        if is_skill_name(name):
            yield SkillName(name), os.path.join(layout.trash, slot)


def _list_names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _receipt_or_empty(layout: Layout, *, staged: bool) -> Receipt:
    """Give what was installed, or what was to be; nothing where that cannot be read: then all is somebody's."""
    path = layout.staged_document_path("receipt")
    try:
        text = read_text(path) if staged else None
        return load_receipt(layout) if not staged else Receipt() if text is None else read_receipt(text, path)
    except DocumentError:
        return Receipt()


def _has_local_changes(path: str, name: SkillName, installed: InstalledSkill | None) -> bool:
    """Tell whether something holds what was not installed.

    Of files whose every byte is as it was, only the modes differ: there is nothing to lose.
    """
    found = read_installed_state(path, name, installed, StatCache())
    is_other = installed is None or installed.digest is None or found.digest != installed.digest
    return found.kind in {"edited", "foreign"} and is_other
