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
from skillpm.installer.disk_state import digest_folder
from skillpm.installer.links.copies import clean_up_copies, install_copy, remove_copy, stage_copy
from skillpm.installer.links.created_folders import remove_if_created
from skillpm.installer.links.state import is_link, points_at
from skillpm.installer.staging import FsyncQueue
from skillpm.installer.target import InstallTarget


def reconcile_links(
    target: InstallTarget, old_receipt: Receipt, new_receipt: Receipt, warn: Callable[[str], None]
) -> None:
    """Make the links be what `after` says; of what `before` says and `after` does not, remove what is still ours."""
    for folder in {**old_receipt.links, **new_receipt.links}:
        clean_up_copies(target, folder, old_receipt, new_receipt, warn)
    for folder, links in old_receipt.links.items():
        for name, kind in links.items():
            if name not in new_receipt.links.get(folder, {}):
                _remove_link(target, folder, name, kind, old_receipt.copy_digest(name), warn)
        if not new_receipt.links.get(folder):
            remove_if_created(folder, old_receipt, target.link_folders)
    _create_links(target, old_receipt, new_receipt, warn)


def _create_links(
    target: InstallTarget, old_receipt: Receipt, new_receipt: Receipt, warn: Callable[[str], None]
) -> None:
    folders, layout, settling = target.link_folders, target.layout, FsyncQueue(fsync=target.fsync)
    copies: list[tuple[str, SkillName]] = []
    for folder, links in new_receipt.links.items():
        base = folders.path(folder)
        if links and os.path.realpath(base) != os.path.realpath(layout.directory):
            os.makedirs(base, exist_ok=True)
            for name, kind in links.items():
                known = (old_receipt.copy_digest(name), new_receipt.copy_digest(name))
                path = os.path.join(base, name)
                if _needs_no_change(path, kind, layout.skill_path(name), known, warn):
                    continue
                if kind == "copy":
                    if new := stage_copy(target, name, path, warn):
                        settling.add(new)
                        copies.append((folder, name))
                    continue
                if os.path.lexists(path):
                    remove_copy(target, folder, name, known[0], warn)  # our own, unchanged
                _create_link(path, kind, layout.skill_path(name))
    settling.wait()
    for folder, name in copies:
        install_copy(target, folder, name, old_receipt.copy_digest(name), warn)


def _needs_no_change(
    path: str, kind: str, target: str, digests: tuple[Digest | None, Digest | None], warn: Callable[[str], None]
) -> bool:
    """Tell whether there is nothing to make at a link's place. What somebody else put there stays, and is told."""
    is_there = os.path.lexists(path)
    is_folder = is_there and not is_link(path, os.lstat(path))
    there = digest_folder(path) if is_folder and os.path.isdir(path) else None
    if (is_there and not is_folder and points_at(path, target)) or (kind == "copy" and there and there == digests[1]):
        return True
    if is_there and (not is_folder or there is None or there != digests[0]):
        warn(f"{path} is not ours; it is left as it is, and {os.path.basename(path)} is not linked there")
        return True
    return False


def _create_link(path: str, kind: str, target: str) -> None:
    if kind == "junction" and sys.platform == "win32":
        import _winapi  # noqa: PLC0415  (Windows only)

        _winapi.CreateJunction(target, path)
    else:
        base = os.path.realpath(os.path.dirname(path))
        parent, name = os.path.split(target)
        os.symlink(os.path.join(os.path.relpath(os.path.realpath(parent), base), name), path, target_is_directory=True)


def _remove_link(
    target: InstallTarget, folder: str, name: SkillName, kind: str, digest: Digest | None, warn: Callable[[str], None]
) -> None:
    """Remove a link only when it points at us; a copy only when it is still what we put there."""
    path = os.path.join(target.link_folders.path(folder), name)
    try:
        state = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    if is_link(path, state):
        if points_at(path, target.layout.skill_path(name)):
            os.unlink(path)
    elif kind == "copy" and stat.S_ISDIR(state.st_mode):
        if digest_folder(path) == digest:
            remove_copy(target, folder, name, digest, warn)
        else:
            warn(f"{path} was edited; it is left as it is")
