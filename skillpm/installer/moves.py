"""The file system moves of a change: skills, links, backups and restores.

Every step first checks whether it was done already, so that recovery can run the same code again after a crash.
"""

import os
from collections.abc import Callable, Collection

from skillpm.core.names import SkillName
from skillpm.directories import make_folders, rename
from skillpm.errors import FileError
from skillpm.files import sync_folder
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk.backups import discard_backup, restore_backup
from skillpm.installer.disk.journal import Journal, Put, read_inode
from skillpm.installer.disk.late_edits import back_up_agent_entry, back_up_late_edits, back_up_skill
from skillpm.installer.disk.layout import InstallTarget, Layout
from skillpm.installer.disk.rename import move_path, swap_folders
from skillpm.installer.links.reconciler import reconcile_links
from skillpm.installer.links.state import points_at


def execute_moves(
    target: InstallTarget,
    journal: Journal,
    old_receipt: Receipt,
    new_receipt: Receipt,
    warn: Callable[[str], None],
    *,
    is_receipt_written: bool,
) -> None:
    """Do every move except those of documents, and flush it to disk.

    It runs before the documents are written, so that these never describe a state that a power loss could undo.
    `is_receipt_written` means that the receipt already describes the new state; then the moves were all done, and what
    is at the old paths must not be compared with it.
    """
    layout = target.layout
    make_folders(layout.trash)
    # Make room at occupied link paths first: `reconcile_links` below leaves everything foreign as it is.
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
    # Links and copies need the skills in place, and restored folders need their paths free of our links.
    reconcile_links(target, old_receipt, new_receipt, warn)
    for folder, backup_ids in journal.link_restores.items():
        for name, backup_id in backup_ids.items():
            _restore_at_link(target, folder, name, backup_id, warn)
    if target.fsync:
        is_same = old_receipt.links == new_receipt.links and old_receipt.skills == new_receipt.skills
        _sync_moves(target, {*journal.agent_folders, *(() if is_same else (*old_receipt.links, *new_receipt.links))})


def _place_skill(layout: Layout, name: SkillName, put: Put, old_receipt: Receipt, warn: Callable[[str], None]) -> None:
    """Move one staged folder into place.

    The folder that was there ends up in staging (swapped) or in the trash, or becomes a backup if it is known to be
    edited.
    """
    staged, place = os.path.join(layout.staging, name), layout.skill_path(name)
    current = read_inode(place)
    if current == put.new_inode:
        return
    if read_inode(staged) != put.new_inode:
        hint = f"run `{layout.command('sync', '--force')}`"
        raise FileError(f"{name}: the staged folder is missing", where=staged, hint=hint)
    if current and put.needs_backup:
        back_up_skill(layout, name, place, old_receipt, warn)
    # Without an atomic swap, the skill is missing for the moment between two renames.
    elif current and not swap_folders(staged, place):
        move_path(place, _find_free_path(layout.trash, name))
    if read_inode(staged) == put.new_inode:  # not swapped
        rename(staged, place)


def _remove_skill(
    layout: Layout, name: SkillName, old_receipt: Receipt, warn: Callable[[str], None], *, needs_backup: bool
) -> None:
    if needs_backup:
        back_up_skill(layout, name, layout.skill_path(name), old_receipt, warn)
    else:
        move_path(layout.skill_path(name), _find_free_path(layout.trash, name))


def _back_up_at_link(target: InstallTarget, folder: str, name: SkillName, warn: Callable[[str], None]) -> None:
    """Back up what occupies a link's path, unless it has become our link by now."""
    path = os.path.join(target.link_folders.path(folder), name)
    if os.path.lexists(path) and not points_at(path, target.layout.skill_path(name)):
        back_up_agent_entry(target, folder, name, path, warn)


def _restore_at_link(
    target: InstallTarget, folder: str, name: SkillName, backup_id: str, warn: Callable[[str], None]
) -> None:
    """Move a backup back into an agent folder.

    Our own link was removed before, so anything at the path now was put there by the user, and is backed up.
    """
    # After a crash the backup may have been moved already.
    if os.path.lexists(os.path.join(target.layout.backups, backup_id)):
        path = os.path.join(target.link_folders.path(folder), name)
        if os.path.lexists(path):
            back_up_agent_entry(target, folder, name, path, warn)
        restore_backup(target.layout, backup_id, path)
    discard_backup(target.layout, backup_id)


def _sync_moves(target: InstallTarget, agent_folders: Collection[str]) -> None:
    """Flush every folder that something was moved to or from, and the parents that may have been created for it."""
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
