"""Copies of skills in agent folders, for hosts or systems without links.

Copies are put in place and taken away as a whole, under temporary names with a leading dot, which hosts ignore:

- `.<name>.skillpm-new` is being created and may be incomplete.
- `.<name>.skillpm-old` was in place, where people edit it, so it is checked before it is deleted.
- `.<name>.skillpm-gone` was checked and is being deleted.
"""

import os
import stat
from collections.abc import Callable

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.directories import exchange, remove_file, rename
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.disk.late_edits import back_up_agent_entry
from skillpm.installer.disk.layout import InstallTarget
from skillpm.installer.disk.leftovers import discard_tree
from skillpm.installer.disk.rename import move_path, swap_folders
from skillpm.installer.disk.staging import copy_folder

TEMPORARY_NAME = lazy_pattern(r"\.([a-z0-9-]+)\.skillpm-(new|old|gone)")
Warn = Callable[[str], None]


def temporary_path(path: str, stage: str) -> str:
    """Return the temporary path of a copy in a stage (`new`, `old` or `gone`)."""
    base, name = os.path.split(path)
    return os.path.join(base, f".{name}.skillpm-{stage}")


def clean_up_copies(target: InstallTarget, folder: str, old_receipt: Receipt, new_receipt: Receipt, warn: Warn) -> None:
    """Remove the temporary copies that a killed command left. The caller holds the lock."""
    base = target.link_folders.path(folder)
    try:
        names = os.listdir(base)
    except OSError:
        return
    for entry in names:
        if match := TEMPORARY_NAME.fullmatch(entry):
            path, name = os.path.join(base, entry), SkillName(match[1])
            if match[2] != "old":
                discard_tree(target.layout, path, warn)
            else:
                _discard_or_back_up(
                    target, folder, name, {old_receipt.copy_digest(name), new_receipt.copy_digest(name)}, warn
                )


def stage_copy(target: InstallTarget, name: SkillName, path: str, warn: Warn) -> str:
    """Create a copy and return its temporary path; return an empty string, and warn, if the skill is unreadable.

    That does not raise, because a change whose journal is written must be finished.
    """
    new = temporary_path(path, "new")
    try:
        copy_folder(os.path.realpath(target.layout.skill_path(name)), new)
    except PermissionError as error:
        discard_tree(target.layout, new, warn)
        warn(f"{path} was not created: permission denied reading {sanitize(str(error.filename))}")
        return ""
    return new


def install_copy(target: InstallTarget, folder: str, name: SkillName, known_digest: Digest | None, warn: Warn) -> None:
    """Put a staged copy into place, replacing our old copy with the digest `known_digest`, if any."""
    path = os.path.join(target.link_folders.path(folder), name)
    new, old = temporary_path(path, "new"), temporary_path(path, "old")
    if os.path.islink(path):  # our own link, which becomes a copy
        if exchange(new, path):
            remove_file(new)
            return
        remove_file(path)
    elif os.path.lexists(path):
        # The new copy takes the name `old` for the swap: after it, and after a crash, `old` is what was in place.
        rename(new, old)
        if swap_folders(old, path):
            _discard_or_back_up(target, folder, name, {known_digest}, warn)
            return
        rename(old, new)
        remove_copy(target, folder, name, known_digest, warn)
    rename(new, path)


def remove_copy(target: InstallTarget, folder: str, name: SkillName, known_digest: Digest | None, warn: Warn) -> None:
    """Remove our copy with the digest `known_digest`; no host ever sees it half deleted."""
    path = os.path.join(target.link_folders.path(folder), name)
    move_path(path, temporary_path(path, "old"))
    _discard_or_back_up(target, folder, name, {known_digest}, warn)


def _discard_or_back_up(
    target: InstallTarget, folder: str, name: SkillName, known_digests: set[Digest | None], warn: Warn
) -> None:
    """Delete a copy that was moved out of place, or back it up if it was edited."""
    old_path = temporary_path(os.path.join(target.link_folders.path(folder), name), "old")
    is_folder = stat.S_ISDIR(os.lstat(old_path).st_mode)
    if is_folder and digest_folder(old_path) in known_digests:
        gone_path = temporary_path(os.path.join(target.link_folders.path(folder), name), "gone")
        discard_tree(target.layout, gone_path, warn)
        rename(old_path, gone_path)
        discard_tree(target.layout, gone_path, warn)
    else:
        back_up_agent_entry(target, folder, name, old_path, warn)
