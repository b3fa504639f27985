"""Inspect the paths of links in agent folders: absent, ours, or foreign.

Nothing is changed here; see `reconciler.py`.
"""

import os
import stat
import sys
from posixpath import dirname
from typing import Literal

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.disk.layout import Layout, LinkFolders


class LinkState(Value):
    """What is at the path of a link."""

    kind: Literal["absent", "ours", "foreign"] = "absent"
    # A folder with exactly the content of the skill, so it can be adopted as a copy.
    is_identical_copy: bool = False
    # The host reads the skill there anyway, so there is nothing to create or remove.
    needs_no_link: bool = False
    # The user chose to leave it as it is.
    is_skipped: bool = False


def read_link_state(
    folders: LinkFolders,
    folder: str,
    name: SkillName,
    layout: Layout,
    recorded: tuple[str, Digest | None],
    expected_digest: Digest | None = None,
) -> LinkState:
    """Return what is at the path of a skill's link in an agent folder.

    `recorded` is the kind of link in the receipt and the digest of the skill as it was copied; `expected_digest` is the
    digest that a copy will have.
    """
    base = folders.path(folder)
    if os.path.realpath(base) == os.path.realpath(layout.directory):
        return LinkState(kind="ours", needs_no_link=True)  # the host's whole folder is a link to ours
    path = os.path.join(base, name)
    try:
        state = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return LinkState()
    if is_link(path, state) and points_at(path, layout.skill_path(name)):
        return LinkState(kind="ours")
    if os.path.realpath(path) == os.path.realpath(layout.skill_path(name)):
        # Our skill is itself a link to this folder (a live link), or both are links to the same folder.
        return LinkState(kind="ours", needs_no_link=True)
    if is_link(path, state):
        return LinkState(kind="foreign")
    current_digest = (
        digest_folder(path) if stat.S_ISDIR(state.st_mode) and (recorded[0] == "copy" or expected_digest) else None
    )
    if current_digest is not None and recorded[0] == "copy" and current_digest == recorded[1]:
        return LinkState(kind="ours")
    return LinkState(kind="foreign", is_identical_copy=current_digest is not None and current_digest == expected_digest)


def is_link(path: str, state: os.stat_result) -> bool:
    """Return whether a path is a symlink or a Windows junction."""
    return stat.S_ISLNK(state.st_mode) or (sys.platform == "win32" and _is_junction(path))


def _is_junction(path: str) -> bool:
    return bool(getattr(os.path, "isjunction", lambda _: False)(path))


def points_at(path: str, target: str) -> bool:
    """Return whether a link points at a skill's folder, which need not exist.

    The last component is compared by name, since the skill may itself be a link; only its parent is resolved.
    """
    try:
        link_text = os.readlink(path).removeprefix("\\\\?\\")
    except OSError:
        return False
    link_target = os.path.normpath(os.path.join(os.path.realpath(os.path.dirname(path)), link_text))
    parent, name = os.path.split(target)
    return os.path.basename(link_target) == name and os.path.realpath(os.path.dirname(link_target)) == os.path.realpath(
        parent
    )


def choose_link_kind(mode: str) -> str:
    """Return the kind of link to create: the user's choice, or the best one that this system supports."""
    if mode in {"copy", "symlink", "junction"}:
        return mode
    return "junction" if os.name == "nt" else "symlink"


def record_created_folders(old_receipt: Receipt, new_receipt: Receipt, folders: LinkFolders) -> Receipt:
    """Return the receipt with the folders that its links require to be created.

    These are the agent folders that do not exist before the first link, and in a project also the host's folder above
    (`.claude` for `.claude/skills`). Folders without links are dropped from the record.
    """
    linked = {folder for folder, links in new_receipt.links.items() if links}
    created = {*old_receipt.folders}
    for folder in linked - old_receipt.links.keys():
        path = folders.path(folder)
        if not os.path.lexists(path):
            created.add(folder)
            if folders.boundary and not os.path.lexists(os.path.dirname(path)):
                created.add(dirname(folder))
    used = linked | {dirname(folder) for folder in linked}
    return new_receipt.replace(folders=tuple(sorted(created & used)))
