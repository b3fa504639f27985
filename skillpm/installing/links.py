"""Links from agent hosts' folders to installed skills: made, moved and removed, and only ever our own.

What an agent host sees is whole at every moment: a link is made in one step, and a copy is made, and taken apart,
under a name with a dot, which hosts pass over.

A receipt names each folder as `.claude/skills` (below the project) or `~/.claude/skills`, and each link's kind:
`symlink` (relative), `junction` (Windows without the right to make symlinks), `copy` (where neither can be).
"""

import os
import stat
import sys
from collections.abc import Callable
from typing import Literal

from skillpm.documents.digest import Digest
from skillpm.documents.names import SkillName
from skillpm.documents.receipt import Receipt
from skillpm.installing.copies import discard_copy, make_copy, put_in_place, sweep_copies
from skillpm.installing.layout import Layout
from skillpm.installing.made_folders import remove_if_made
from skillpm.installing.settling import Settling
from skillpm.installing.survey import digest_of_folder
from skillpm.installing.target import LinkFolders, Target
from skillpm.values import Value


class LinkState(Value):
    """What is at a link's place: nothing, ours as it should be, or somebody else's thing.

    `itself`: the host reads the skill there without us, so there is nothing to make or remove. `is_left`: it is in
    the way of nothing that was asked for, so it stays as it is. `is_copy`: a folder that holds what would be put there,
    whoever put it there, so that it can be taken over.
    """

    kind: Literal["absent", "ours", "foreign"] = "absent"
    is_copy: bool = False
    itself: bool = False
    is_left: bool = False


def look_at_link(
    folders: LinkFolders,
    folder: str,
    name: SkillName,
    layout: Layout,
    known: tuple[str, Digest | None],
    wanted: Digest | None = None,
) -> LinkState:
    """Look at one link's place; `known` is the kind the receipt says we made there, and the digest a copy had.

    `wanted` is the digest that a copy is to have.
    """
    base = folders.path(folder)
    if os.path.realpath(base) == os.path.realpath(layout.directory):
        return LinkState(kind="ours", itself=True)  # the host's whole folder is a link to ours
    path = os.path.join(base, name)
    try:
        state = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return LinkState()
    if is_link(path, state) and points_at(path, layout.skill(name)):
        return LinkState(kind="ours")
    if os.path.realpath(path) == os.path.realpath(layout.skill(name)):
        return LinkState(kind="ours", itself=True)  # the skill lies there, and ours is a link to it; or both are links
    if is_link(path, state):
        return LinkState(kind="foreign")
    there = digest_of_folder(path) if stat.S_ISDIR(state.st_mode) and (known[0] == "copy" or wanted) else None
    if there is not None and known[0] == "copy" and there == known[1]:
        return LinkState(kind="ours")
    return LinkState(kind="foreign", is_copy=there is not None and there == wanted)


def reconcile(target: Target, before: Receipt, after: Receipt, warn: Callable[[str], None]) -> None:
    """Make the links be what `after` says; of what `before` says and `after` does not, remove what is still ours."""
    for folder in {**before.links, **after.links}:
        sweep_copies(target, folder, before, after, warn)
    for folder, links in before.links.items():
        for name, kind in links.items():
            if name not in after.links.get(folder, {}):
                _remove(target, folder, name, kind, before.copied(name), warn)
        if not after.links.get(folder):
            remove_if_made(folder, before, target.links)
    _make_wanted(target, before, after, warn)


def _make_wanted(target: Target, before: Receipt, after: Receipt, warn: Callable[[str], None]) -> None:
    folders, layout, settling = target.links, target.layout, Settling(fsync=target.fsync)
    copies: list[tuple[str, SkillName]] = []
    for folder, links in after.links.items():
        base = folders.path(folder)
        if links and os.path.realpath(base) != os.path.realpath(layout.directory):
            os.makedirs(base, exist_ok=True)
            for name, kind in links.items():
                known = (before.copied(name), after.copied(name))
                path = os.path.join(base, name)
                if _is_made(path, kind, layout.skill(name), known, warn):
                    continue
                if kind == "copy":
                    if new := make_copy(target, name, path, warn):
                        settling.begin(new)
                        copies.append((folder, name))
                    continue
                if os.path.lexists(path):
                    discard_copy(target, folder, name, known[0], warn)  # our own, unchanged
                _link(path, kind, layout.skill(name))
    settling.wait()
    for folder, name in copies:
        put_in_place(target, folder, name, before.copied(name), warn)


def kind_of_link(mode: str) -> str:
    """Give the kind of link this system can make; `mode` is the user's choice, empty for the best there is."""
    if mode in {"copy", "symlink", "junction"}:
        return mode
    return "junction" if os.name == "nt" else "symlink"


def _is_made(
    path: str, kind: str, target: str, known: tuple[Digest | None, Digest | None], warn: Callable[[str], None]
) -> bool:
    """Tell whether there is nothing to make at a link's place. What somebody else put there stays, and is told."""
    is_there = os.path.lexists(path)
    is_folder = is_there and not is_link(path, os.lstat(path))
    there = digest_of_folder(path) if is_folder and os.path.isdir(path) else None
    if (is_there and not is_folder and points_at(path, target)) or (kind == "copy" and there and there == known[1]):
        return True
    if is_there and (not is_folder or there is None or there != known[0]):
        warn(f"{path} is not ours; it is left as it is, and {os.path.basename(path)} is not linked there")
        return True
    return False


def _link(path: str, kind: str, target: str) -> None:
    if kind == "junction" and sys.platform == "win32":
        import _winapi  # noqa: PLC0415  (Windows only)

        _winapi.CreateJunction(target, path)
    else:
        base = os.path.realpath(os.path.dirname(path))
        parent, name = os.path.split(target)
        os.symlink(os.path.join(os.path.relpath(os.path.realpath(parent), base), name), path, target_is_directory=True)


def _remove(
    target: Target, folder: str, name: SkillName, kind: str, digest: Digest | None, warn: Callable[[str], None]
) -> None:
    """Remove a link only when it points at us; a copy only when it is still what we put there."""
    path = os.path.join(target.links.path(folder), name)
    try:
        state = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    if is_link(path, state):
        if points_at(path, target.layout.skill(name)):
            os.unlink(path)
    elif kind == "copy" and stat.S_ISDIR(state.st_mode):
        if digest_of_folder(path) == digest:
            discard_copy(target, folder, name, digest, warn)
        else:
            warn(f"{path} was edited; it is left as it is")


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
