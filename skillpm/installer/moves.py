"""The moves of a change: folders, links, what is set aside and what comes back. Each can be done again, and is not
done twice: it looks whether it was done.
"""

import os
from collections.abc import Callable, Collection

from skillpm.core.names import SkillName
from skillpm.errors import FileError
from skillpm.files import sync_folder
from skillpm.formats.receipt import Receipt
from skillpm.installer.backups import bring_back, forget
from skillpm.installer.journal import Journal, Put, inode
from skillpm.installer.late_edits import keep, keep_edits, keep_from
from skillpm.installer.layout import Layout
from skillpm.installer.links.reconciler import reconcile
from skillpm.installer.links.state import points_at
from skillpm.installer.rename import shift, swap
from skillpm.installer.target import Target


def move_everything(
    target: Target, journal: Journal, before: Receipt, after: Receipt, warn: Callable[[str], None], *, is_told: bool
) -> None:
    """Bring everything to its place but the documents, and flush it, so that they never say what is not so.

    `is_told`: the receipt tells of the new state already (and was written after all this was done).
    """
    layout = target.layout
    os.makedirs(layout.trash, exist_ok=True)
    for folder, names in journal.asides.items():
        for name in names:
            _set_link_aside(target, folder, name, warn)
    for name, put in journal.puts.items():
        _put(layout, name, put, before, warn)
    for name, removal in journal.removals.items():
        if removal.old and inode(layout.skill(name)) == removal.old:
            _take_away(layout, name, before, warn, aside=removal.aside)
    if not is_told:
        keep_edits(layout, journal, before, warn)
    reconcile(target, before, after, warn)
    for folder, slots in journal.returns.items():
        for name, slot in slots.items():
            _bring_back(target, folder, name, slot, warn)
    if target.fsync:
        is_same = before.links == after.links and before.skills == after.skills
        _sync_moves(target, {*journal.folders, *(() if is_same else (*before.links, *after.links))})


def _put(layout: Layout, name: SkillName, put: Put, before: Receipt, warn: Callable[[str], None]) -> None:
    """Bring one folder to its place; what was there goes to staging in its stead or to the trash, or is set aside
    when it is known to be anybody's work.
    """
    staged, place = os.path.join(layout.staging, name), layout.skill(name)
    there = inode(place)
    if there == put.new:
        return
    if inode(staged) != put.new:
        raise FileError(f"the staged folder of {name} is gone", where=staged, hint="run `skillpm sync --force`")
    if there and put.aside:
        keep(layout, name, place, before, warn)
    elif there and not swap(staged, place):
        shift(place, _free(layout.trash, name))
    if inode(staged) == put.new:
        os.rename(staged, place)


def _take_away(layout: Layout, name: SkillName, before: Receipt, warn: Callable[[str], None], *, aside: bool) -> None:
    if aside:
        keep(layout, name, layout.skill(name), before, warn)
    else:
        shift(layout.skill(name), _free(layout.trash, name))


def _set_link_aside(target: Target, folder: str, name: SkillName, warn: Callable[[str], None]) -> None:
    """Set aside what lies at a link's place, unless it is (by now) our link."""
    path = os.path.join(target.links.path(folder), name)
    if os.path.lexists(path) and not points_at(path, target.layout.skill(name)):
        keep_from(target, folder, name, path, warn)


def _bring_back(target: Target, folder: str, name: SkillName, slot: str, warn: Callable[[str], None]) -> None:
    """Bring a backup back into an agent folder. What lies there by now is somebody's: our own link is gone already."""
    if os.path.lexists(os.path.join(target.layout.backup, slot)):
        path = os.path.join(target.links.path(folder), name)
        if os.path.lexists(path):
            keep_from(target, folder, name, path, warn)
        bring_back(target.layout, slot, path)
    forget(target.layout, slot)


def _sync_moves(target: Target, agents: Collection[str]) -> None:
    """Flush every folder that something was moved to or from, and those that may have been made for it."""
    layout = target.layout
    folders = {layout.directory, layout.ours, layout.backup}
    for folder in agents:
        path = target.links.path(folder)
        folders |= {path, os.path.dirname(path), os.path.dirname(os.path.dirname(path))}
    for path in sorted(folders):
        if os.path.isdir(path):
            sync_folder(path)


def _free(folder: str, name: str) -> str:
    number = 1
    while os.path.lexists(path := os.path.join(folder, f"{name}-{number}")):
        number += 1
    return path
