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

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk_state import digest_of_folder
from skillpm.installer.links.copies import discard_copy, make_copy, put_in_place, sweep_copies
from skillpm.installer.links.created_folders import remove_if_made
from skillpm.installer.links.state import is_link, points_at
from skillpm.installer.staging import Settling
from skillpm.installer.target import Target


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
