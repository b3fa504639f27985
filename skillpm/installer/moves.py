"""The moves of a change: folders, links, what is set aside and what comes back. Each can be done again, and is not
done twice: it looks whether it was done.
"""

import os
from collections.abc import Callable, Collection

from skillpm.core.names import SkillName
from skillpm.errors import FileError
from skillpm.files import sync_folder
from skillpm.formats.receipt import Receipt
from skillpm.installer.backups import discard_backup, restore_backup
from skillpm.installer.journal import Journal, Put, read_inode
from skillpm.installer.late_edits import back_up_agent_entry, back_up_late_edits, back_up_skill
from skillpm.installer.layout import Layout
from skillpm.installer.links.reconciler import reconcile_links
from skillpm.installer.links.state import points_at
from skillpm.installer.rename import move_path, swap_folders
from skillpm.installer.target import InstallTarget


def execute_moves(
    target: InstallTarget,
    journal: Journal,
    old_receipt: Receipt,
    new_receipt: Receipt,
    warn: Callable[[str], None],
    *,
    is_receipt_written: bool,
) -> None:
    """Bring everything to its place but the documents, and flush it, so that they never say what is not so.

    `is_told`: the receipt tells of the new state already (and was written after all this was done).
    """
    layout = target.layout
    os.makedirs(layout.trash, exist_ok=True)
    for folder, names in journal.link_backups.items():
        for name in names:
            _back_up_at_link(target, folder, name, warn)
    for name, put in journal.puts.items():
        _place_skill(layout, name, put, old_receipt, warn)
    for name, removal in journal.removals.items():
        if removal.old_inode and read_inode(layout.skill_path(name)) == removal.old_inode:
            _remove_skill(layout, name, old_receipt, warn, needs_backup=removal.needs_backup)
    if not is_receipt_written:
        back_up_late_edits(layout, journal, old_receipt, warn)
    reconcile_links(target, old_receipt, new_receipt, warn)
    for folder, slots in journal.link_restores.items():
        for name, slot in slots.items():
            _restore_at_link(target, folder, name, slot, warn)
    if target.fsync:
        is_same = old_receipt.links == new_receipt.links and old_receipt.skills == new_receipt.skills
        _sync_moves(target, {*journal.agent_folders, *(() if is_same else (*old_receipt.links, *new_receipt.links))})


def _place_skill(layout: Layout, name: SkillName, put: Put, old_receipt: Receipt, warn: Callable[[str], None]) -> None:
    """Bring one folder to its place; what was there goes to staging in its stead or to the trash, or is set aside
    when it is known to be anybody's work.
    """
    staged, place = os.path.join(layout.staging, name), layout.skill_path(name)
    there = read_inode(place)
    if there == put.new_inode:
        return
    if read_inode(staged) != put.new_inode:
        raise FileError(f"the staged folder of {name} is gone", where=staged, hint="run `skillpm sync --force`")
    if there and put.needs_backup:
        back_up_skill(layout, name, place, old_receipt, warn)
    elif there and not swap_folders(staged, place):
        move_path(place, _find_free_path(layout.trash, name))
    if read_inode(staged) == put.new_inode:
        os.rename(staged, place)


def _remove_skill(
    layout: Layout, name: SkillName, old_receipt: Receipt, warn: Callable[[str], None], *, needs_backup: bool
) -> None:
    if needs_backup:
        back_up_skill(layout, name, layout.skill_path(name), old_receipt, warn)
    else:
        move_path(layout.skill_path(name), _find_free_path(layout.trash, name))


def _back_up_at_link(target: InstallTarget, folder: str, name: SkillName, warn: Callable[[str], None]) -> None:
    """Set aside what lies at a link's place, unless it is (by now) our link."""
    path = os.path.join(target.link_folders.path(folder), name)
    if os.path.lexists(path) and not points_at(path, target.layout.skill_path(name)):
        back_up_agent_entry(target, folder, name, path, warn)


def _restore_at_link(
    target: InstallTarget, folder: str, name: SkillName, backup_id: str, warn: Callable[[str], None]
) -> None:
    """Bring a backup back into an agent folder. What lies there by now is somebody's: our own link is gone already."""
    if os.path.lexists(os.path.join(target.layout.backups, backup_id)):
        path = os.path.join(target.link_folders.path(folder), name)
        if os.path.lexists(path):
            back_up_agent_entry(target, folder, name, path, warn)
        restore_backup(target.layout, backup_id, path)
    discard_backup(target.layout, backup_id)


def _sync_moves(target: InstallTarget, agent_folders: Collection[str]) -> None:
    """Flush every folder that something was moved to or from, and those that may have been made for it."""
    layout = target.layout
    folders = {layout.directory, layout.internal_dir, layout.backups}
    for folder in agent_folders:
        path = target.link_folders.path(folder)
        folders |= {path, os.path.dirname(path), os.path.dirname(os.path.dirname(path))}
    for path in sorted(folders):
        if os.path.isdir(path):
            sync_folder(path)


def _find_free_path(folder: str, name: str) -> str:
    number = 1
    while os.path.lexists(path := os.path.join(folder, f"{name}-{number}")):
        number += 1
    return path
