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
from skillpm.core.text import show
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk_state import digest_of_folder
from skillpm.installer.late_edits import keep_from
from skillpm.installer.leftovers import clear_away_tree
from skillpm.installer.rename import shift, swap
from skillpm.installer.staging import copy_folder
from skillpm.installer.target import Target

HIDDEN = re.compile(r"\.([a-z0-9-]+)\.skillpm-(new|old|gone)")
Warn = Callable[[str], None]


def hidden(path: str, what: str) -> str:
    """Give where a copy waits, before it comes to its place (`new`) or after it left it (`old`)."""
    base, name = os.path.split(path)
    return os.path.join(base, f".{name}.skillpm-{what}")


def sweep_copies(target: Target, folder: str, before: Receipt, after: Receipt, warn: Warn) -> None:
    """Remove what a killed command left of copies. Only under the lock."""
    base = target.links.path(folder)
    try:
        names = os.listdir(base)
    except OSError:
        return
    for found in names:
        if match := HIDDEN.fullmatch(found):
            path, name = os.path.join(base, found), SkillName(match[1])
            if match[2] != "old":
                clear_away_tree(target.layout, path, warn)
            else:
                _let_go(target, folder, name, {before.copied(name), after.copied(name)}, warn)


def make_copy(target: Target, name: SkillName, path: str, warn: Warn) -> str:
    """Make a copy that can come to its place, and say where it waits; empty where the skill may not be read.

    That is told, and no reason to stop: a change that has begun must come to its end.
    """
    new = hidden(path, "new")
    try:
        copy_folder(os.path.realpath(target.layout.skill(name)), new)
    except PermissionError as error:
        clear_away_tree(target.layout, new, warn)
        warn(f"{path} is not made: {show(str(error.filename))} may not be read")
        return ""
    return new


def put_in_place(target: Target, folder: str, name: SkillName, known: Digest | None, warn: Warn) -> None:
    """Bring a copy to its place; what lies there was put there by us, with the digest `known`."""
    path = os.path.join(target.links.path(folder), name)
    new, old = hidden(path, "new"), hidden(path, "old")
    if os.path.lexists(path):
        os.rename(new, old)
        if swap(old, path):
            _let_go(target, folder, name, {known}, warn)
            return
        os.rename(old, new)
        discard_copy(target, folder, name, known, warn)
    os.rename(new, path)


def discard_copy(target: Target, folder: str, name: SkillName, known: Digest | None, warn: Warn) -> None:
    """Take away a copy that we put there, with the digest `known`: no host ever sees it half gone."""
    path = os.path.join(target.links.path(folder), name)
    shift(path, hidden(path, "old"))
    _let_go(target, folder, name, {known}, warn)


def _let_go(target: Target, folder: str, name: SkillName, known: set[Digest | None], warn: Warn) -> None:
    """Remove what left its place, or set it aside where it is anybody's work by now."""
    old = hidden(os.path.join(target.links.path(folder), name), "old")
    is_folder = stat.S_ISDIR(os.lstat(old).st_mode)
    if is_folder and digest_of_folder(old) in known:
        gone = hidden(os.path.join(target.links.path(folder), name), "gone")
        clear_away_tree(target.layout, gone, warn)
        os.rename(old, gone)
        clear_away_tree(target.layout, gone, warn)
    else:
        keep_from(target, folder, name, old, warn)
