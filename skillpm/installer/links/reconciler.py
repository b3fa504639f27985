"""Create, replace and remove the links in agent folders; only what skillpm created is ever touched (ADR 6).

A host sees a complete skill at every moment: links are created atomically, and copies are created and deleted under
hidden temporary names.

A receipt names each agent folder as `.claude/skills` (below the project) or `~/.claude/skills`, and the kind of each
link: `symlink` (relative), `junction` (Windows without the right to create symlinks) or `copy` (if neither works).
"""

import os
import stat
import sys
from collections.abc import Callable
from posixpath import dirname

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.directories import make_folders, make_link, remove_file, remove_folder
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.disk.layout import InstallTarget, LinkFolders
from skillpm.installer.disk.staging import FsyncQueue
from skillpm.installer.links.copies import clean_up_copies, install_copy, remove_copy, stage_copy
from skillpm.installer.links.state import is_link, points_at


def remove_if_created(folder: str, old_receipt: Receipt, folders: LinkFolders) -> None:
    """Remove a folder that was created for links if it is empty now, and the host's folder above it likewise."""
    path = folders.path(folder)
    if folder not in old_receipt.folders or os.path.islink(path):
        return
    try:
        remove_folder(path)
        if folders.boundary and dirname(folder) in old_receipt.folders:
            remove_folder(os.path.dirname(path))
    except OSError:
        return


def reconcile_links(
    target: InstallTarget, old_receipt: Receipt, new_receipt: Receipt, warn: Callable[[str], None]
) -> None:
    """Change the links from those of the old receipt to those of the new one."""
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
    folders, layout, fsync_queue = target.link_folders, target.layout, FsyncQueue(fsync=target.fsync)
    copies: list[tuple[str, SkillName]] = []
    for folder, links in new_receipt.links.items():
        base = folders.path(folder)
        if links and os.path.realpath(base) != os.path.realpath(layout.directory):
            make_folders(base)
            for name, kind in links.items():
                known_digests = (old_receipt.copy_digest(name), new_receipt.copy_digest(name))
                path = os.path.join(base, name)
                if _needs_no_change(path, kind, layout.skill_path(name), known_digests, warn):
                    continue
                if kind == "copy":
                    if staged := stage_copy(target, name, path, warn):
                        fsync_queue.add(staged)
                        copies.append((folder, name))
                    continue
                if os.path.lexists(path):
                    remove_copy(target, folder, name, known_digests[0], warn)  # our own, unchanged
                _create_link(path, kind, layout.skill_path(name))
    fsync_queue.wait()
    for folder, name in copies:
        install_copy(target, folder, name, old_receipt.copy_digest(name), warn)


def _needs_no_change(
    path: str, kind: str, target: str, digests: tuple[Digest | None, Digest | None], warn: Callable[[str], None]
) -> bool:
    """Return whether a link's path stays as it is: it is correct already, or foreign, which is reported.

    `digests` are those of our copy before and after the change.
    """
    exists = os.path.lexists(path)
    is_not_link = exists and not is_link(path, os.lstat(path))
    current_digest = digest_folder(path) if is_not_link and os.path.isdir(path) else None
    if exists and not is_not_link and points_at(path, target):
        return kind != "copy"
    if kind == "copy" and current_digest and current_digest == digests[1]:
        return True
    if exists and (not is_not_link or current_digest is None or current_digest != digests[0]):
        warn(
            f"{path} was not created by skillpm; it is left as it is, and {os.path.basename(path)} is not linked there"
        )
        return True
    return False


def _create_link(path: str, kind: str, target: str) -> None:
    if kind == "junction" and sys.platform == "win32":
        import _winapi  # noqa: PLC0415  (Windows only)

        _winapi.CreateJunction(target, path)
    else:
        base = os.path.realpath(os.path.dirname(path))
        parent, name = os.path.split(target)
        make_link(path, os.path.join(os.path.relpath(os.path.realpath(parent), base), name))


def _remove_link(
    target: InstallTarget, folder: str, name: SkillName, kind: str, digest: Digest | None, warn: Callable[[str], None]
) -> None:
    """Remove a link only if it points at our skill, and a copy only if its content is what we put there."""
    path = os.path.join(target.link_folders.path(folder), name)
    try:
        state = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    if is_link(path, state):
        if points_at(path, target.layout.skill_path(name)):
            remove_file(path)
    elif kind == "copy" and stat.S_ISDIR(state.st_mode):
        if digest_folder(path) == digest:
            remove_copy(target, folder, name, digest, warn)
        else:
            warn(f"{path} was edited; it is left as it is")
