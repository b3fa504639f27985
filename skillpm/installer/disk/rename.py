"""Move folders, including those that a plain rename cannot move, and detect beforehand those that cannot be moved at
all.

- A folder from the lower layer of a container image (overlayfs) fails with EXDEV although it looks local. It is copied
  and deleted.
- A read-only folder (`chmod -R a-w`) cannot be renamed, because its `..` entry changes. It is made writable for the
  move.
- A mount point or an immutable folder cannot be moved at all. A change only goes forward once its journal is written
  (ADR 4), so this must be known before the first move.
"""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from skillpm.directories import exchange, make_folders, rename, set_folder_mode
from skillpm.errors import FileError
from skillpm.files import OS_ERROR_REASONS, remove_tree
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.staging import FsyncQueue, copy_path

# The errors of renaming something onto a folder that is not empty, if nothing else forbids the move.
TARGET_OCCUPIED_ERRNOS = frozenset([errno.ENOTEMPTY, errno.EEXIST, errno.EISDIR, errno.ENOTDIR])
PERMANENT_ERRNOS = frozenset([errno.EBUSY, errno.EPERM, errno.EACCES])
HARMLESS_ERRNOS = TARGET_OCCUPIED_ERRNOS | {errno.ENOENT, errno.EXDEV}


def move_path(source: str, target: str) -> None:
    """Move a file, link or folder; copy and delete it if it cannot be renamed. Raises `OSError`."""
    mode = _make_writable(source)
    try:
        rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_and_delete(source, target)
    finally:
        # The folder keeps its read-only mode, wherever it is now.
        _restore_mode(target if os.path.lexists(target) else source, mode)


def swap_folders(new: str, path: str) -> bool:
    """Swap two folders atomically; the one at `path` may be read-only.

    Returns False, with nothing changed, if the system does not support it.
    """
    _make_writable(path)
    return exchange(new, path)


def raise_if_unmovable(layout: Layout, paths: Iterable[str]) -> None:
    """Raise `FileError` for a path that the system does not let us move, `OSError` for any other failure.

    The caller holds the lock, and the staging folder exists and is not empty.
    """
    for path in paths:
        refusal = _probe_move(path, layout.staging) if os.path.lexists(path) else None
        # A probe that fails even for our own folder says nothing about this one; then the real move decides.
        if refusal is None or _fails_for_any_folder(layout):
            continue
        if refusal.errno not in PERMANENT_ERRNOS:
            raise refusal
        raise FileError(
            f"{os.path.basename(path)} cannot be moved: {OS_ERROR_REASONS[refusal.errno]}; nothing was changed",
            where=path,
            hint="unmount it or restore the permission to move it, or pass `--keep` to leave it as it is",
        )


def _probe_move(path: str, occupied: str) -> OSError | None:
    """Return the error that forbids moving `path`, found without moving it; None if it can be moved.

    The probe renames it onto `occupied`, a folder that is not empty. This never succeeds, and the kernel reports the
    occupied target last, after every other reason.
    """
    mode = None
    try:
        mode = _make_writable(path)
        rename(path, occupied)
    except OSError as error:
        return None if error.errno in HARMLESS_ERRNOS else error
    finally:
        _restore_mode(path, mode)
    rename(occupied, path)  # it succeeded: another process emptied the folder meanwhile, so move it back
    return None


def _fails_for_any_folder(layout: Layout) -> bool:
    """Return whether the probe also fails for a new folder of our own.

    Then it proves nothing: sshfs, for example, returns one error for every failure.
    """
    probe_dir = os.path.join(layout.trash, ".try")
    make_folders(probe_dir)
    try:
        return _probe_move(probe_dir, layout.staging) is not None
    finally:
        remove_tree(layout.trash)


def _copy_and_delete(source: str, target: str) -> None:
    base, name = os.path.split(target)
    new = os.path.join(base, f".{name}.skillpm-new")
    remove_tree(new)
    if not copy_path(source, new):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), source)
    # The copy must be on disk before the original is deleted.
    queue = FsyncQueue(fsync=True)
    queue.add(new)
    queue.wait()
    rename(new, target)
    remove_tree(source)


def _make_writable(path: str) -> int | None:
    """Make a folder writable for its owner; return its previous mode if that was necessary."""
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode) and not mode & stat.S_IWUSR:
            set_folder_mode(path, stat.S_IMODE(mode) | stat.S_IWUSR)
            return stat.S_IMODE(mode)
    return None


def _restore_mode(path: str, mode: int | None) -> None:
    if mode is not None:
        with suppress(OSError):
            set_folder_mode(path, mode)
