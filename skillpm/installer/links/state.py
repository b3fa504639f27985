"""What is at a link's place: nothing, a link or a copy of ours, or what somebody else put there; and what can be there.

Here it is only looked at: what a plan needs to know of links, before anything is done (`reconciler.py`).
"""

import os
import stat
import sys
from typing import Literal

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.installer.disk_state import digest_folder
from skillpm.installer.layout import Layout
from skillpm.installer.target import LinkFolders


class LinkState(Value):
    """What is at a link's place: nothing, ours as it should be, or somebody else's thing.

    `itself`: the host reads the skill there without us, so there is nothing to make or remove. `is_left`: it is in
    the way of nothing that was asked for, so it stays as it is. `is_copy`: a folder that holds what would be put there,
    whoever put it there, so that it can be taken over.
    """

    kind: Literal["absent", "ours", "foreign"] = "absent"
    is_identical_copy: bool = False
    needs_no_link: bool = False
    is_skipped: bool = False


def read_link_state(
    folders: LinkFolders,
    folder: str,
    name: SkillName,
    layout: Layout,
    recorded: tuple[str, Digest | None],
    expected_digest: Digest | None = None,
) -> LinkState:
    """Look at one link's place; `known` is the kind the receipt says we made there, and the digest a copy had.

    `wanted` is the digest that a copy is to have.
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
        return LinkState(
            kind="ours", needs_no_link=True
        )  # the skill lies there, and ours is a link to it; or both are links
    if is_link(path, state):
        return LinkState(kind="foreign")
    there = digest_folder(path) if stat.S_ISDIR(state.st_mode) and (recorded[0] == "copy" or expected_digest) else None
    if there is not None and recorded[0] == "copy" and there == recorded[1]:
        return LinkState(kind="ours")
    return LinkState(kind="foreign", is_identical_copy=there is not None and there == expected_digest)


def is_link(path: str, state: os.stat_result) -> bool:
    """Tell a symlink or junction from anything else."""
    return stat.S_ISLNK(state.st_mode) or (sys.platform == "win32" and _is_junction(path))


def _is_junction(path: str) -> bool:
    return bool(getattr(os.path, "isjunction", lambda _: False)(path))


def points_at(path: str, target: str) -> bool:
    """Tell whether a link leads to a skill's place, whether or not something is there now."""
    try:
        said = os.readlink(path).removeprefix("\\\\?\\")
    except OSError:
        return False
    leads = os.path.normpath(os.path.join(os.path.realpath(os.path.dirname(path)), said))
    parent, name = os.path.split(target)
    return os.path.basename(leads) == name and os.path.realpath(os.path.dirname(leads)) == os.path.realpath(parent)


def choose_link_kind(mode: str) -> str:
    """Give the kind of link this system can make; `mode` is the user's choice, empty for the best there is."""
    if mode in {"copy", "symlink", "junction"}:
        return mode
    return "junction" if os.name == "nt" else "symlink"
