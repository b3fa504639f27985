"""Copies of skills in agents' folders, where links cannot be: put in place whole, and taken away, under names that
hosts pass over.

`.<name>.skillpm-new` is one that is being made, and nobody's; `.<name>.skillpm-old` is whole, and was in the place
where people edit it: it is looked at before it goes. Then it is `.<name>.skillpm-gone`, and may be half there.
"""

import os
import re
import stat
from collections.abc import Callable

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk_state import digest_folder
from skillpm.installer.late_edits import back_up_agent_entry
from skillpm.installer.leftovers import discard_tree
from skillpm.installer.rename import move_path, swap_folders
from skillpm.installer.staging import copy_folder
from skillpm.installer.target import InstallTarget

TEMPORARY_NAME = re.compile(r"\.([a-z0-9-]+)\.skillpm-(new|old|gone)")
Warn = Callable[[str], None]


def temporary_path(path: str, stage: str) -> str:
    """Give where a copy waits, before it comes to its place (`new`) or after it left it (`old`)."""
    base, name = os.path.split(path)
    return os.path.join(base, f".{name}.skillpm-{stage}")


def clean_up_copies(target: InstallTarget, folder: str, old_receipt: Receipt, new_receipt: Receipt, warn: Warn) -> None:
    """Remove what a killed command left of copies. Only under the lock."""
    base = target.link_folders.path(folder)
    try:
        names = os.listdir(base)
    except OSError:
        return
    for found in names:
        if match := TEMPORARY_NAME.fullmatch(found):
            path, name = os.path.join(base, found), SkillName(match[1])
            if match[2] != "old":
                discard_tree(target.layout, path, warn)
            else:
                _discard_or_back_up(
                    target, folder, name, {old_receipt.copy_digest(name), new_receipt.copy_digest(name)}, warn
                )


def stage_copy(target: InstallTarget, name: SkillName, path: str, warn: Warn) -> str:
    """Make a copy that can come to its place, and say where it waits; empty where the skill may not be read.

    That is told, and no reason to stop: a change that has begun must come to its end.
    """
    new = temporary_path(path, "new")
    try:
        copy_folder(os.path.realpath(target.layout.skill_path(name)), new)
    except PermissionError as error:
        discard_tree(target.layout, new, warn)
        warn(f"{path} is not made: {sanitize(str(error.filename))} may not be read")
        return ""
    return new


def install_copy(target: InstallTarget, folder: str, name: SkillName, known_digest: Digest | None, warn: Warn) -> None:
    """Bring a copy to its place; what lies there was put there by us, with the digest `known`."""
    path = os.path.join(target.link_folders.path(folder), name)
    new, old = temporary_path(path, "new"), temporary_path(path, "old")
    if os.path.lexists(path):
        os.rename(new, old)
        if swap_folders(old, path):
            _discard_or_back_up(target, folder, name, {known_digest}, warn)
            return
        os.rename(old, new)
        remove_copy(target, folder, name, known_digest, warn)
    os.rename(new, path)


def remove_copy(target: InstallTarget, folder: str, name: SkillName, known_digest: Digest | None, warn: Warn) -> None:
    """Take away a copy that we put there, with the digest `known`: no host ever sees it half gone."""
    path = os.path.join(target.link_folders.path(folder), name)
    move_path(path, temporary_path(path, "old"))
    _discard_or_back_up(target, folder, name, {known_digest}, warn)


def _discard_or_back_up(
    target: InstallTarget, folder: str, name: SkillName, known_digests: set[Digest | None], warn: Warn
) -> None:
    """Remove what left its place, or set it aside where it is anybody's work by now."""
    old = temporary_path(os.path.join(target.link_folders.path(folder), name), "old")
    is_folder = stat.S_ISDIR(os.lstat(old).st_mode)
    if is_folder and digest_folder(old) in known_digests:
        gone = temporary_path(os.path.join(target.link_folders.path(folder), name), "gone")
        discard_tree(target.layout, gone, warn)
        os.rename(old, gone)
        discard_tree(target.layout, gone, warn)
    else:
        back_up_agent_entry(target, folder, name, old, warn)
