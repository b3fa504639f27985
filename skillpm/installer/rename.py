"""Folders moved out of their place, also where one rename is not enough, and known beforehand where nothing is.

What came with the image of a container lies on another file system than it seems to (overlayfs), and what somebody
protected (`chmod -R a-w`) may be moved only by who may write into it. A mount point, and what is immutable, cannot be
moved at all: that is to be known before the first thing moves.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress

from skillpm.errors import FileError
from skillpm.files import OS_ERROR_REASONS, remove_tree
from skillpm.installer.layout import Layout
from skillpm.installer.staging import FsyncQueue, copy_path

AT_FDCWD = -100
RENAME_EXCHANGE = 2  # Linux, renameat2(2)
RENAME_SWAP = 2  # macOS, renamex_np(2)
# EXDEV: one of them came with the image of a container.
UNSUPPORTED_ERRNOS = frozenset([errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EXDEV])


def exchange(one: str, other: str) -> bool:
    """Swap what is at two paths of one file system; False where the system cannot, and nothing has happened."""
    if os.name != "posix":
        return False
    import ctypes  # noqa: PLC0415  (only who replaces a folder pays for it)

    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        result = library.renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        result = library.renamex_np(first, second, RENAME_SWAP)
    else:
        return False
    if result == 0:
        return True
    number = ctypes.get_errno()
    if number in UNSUPPORTED_ERRNOS:
        return False
    raise OSError(number, os.strerror(number), other)


# What the system says to moving something onto a folder that holds something, when nothing else is against it.
TARGET_OCCUPIED_ERRNOS = frozenset([errno.ENOTEMPTY, errno.EEXIST, errno.EISDIR, errno.ENOTDIR])
PERMANENT_ERRNOS = frozenset([errno.EBUSY, errno.EPERM, errno.EACCES])
HARMLESS_ERRNOS = TARGET_OCCUPIED_ERRNOS | {errno.ENOENT, errno.EXDEV}


def move_path(source: str, target: str) -> None:
    """Move a file, a link or a folder, by copying it where the system cannot otherwise. Raises `OSError`."""
    mode = _make_writable(source)
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_and_delete(source, target)
    finally:
        _restore_mode(target if os.path.lexists(target) else source, mode)


def swap_folders(new: str, path: str) -> bool:
    """Exchange two folders in one step; False where the system cannot, and nothing has happened."""
    _make_writable(path)
    return exchange(new, path)


def raise_if_unmovable(layout: Layout, paths: Iterable[str]) -> None:
    """Raise `FileError` for what the system will not let us move, `OSError` where it says other things. Only under the
    lock, with a staging place.
    """
    for path in paths:
        refusal = _probe_move(path, layout.staging) if os.path.lexists(path) else None
        if refusal is None or _fails_for_any_folder(layout):
            continue
        if refusal.errno not in PERMANENT_ERRNOS:
            raise refusal
        raise FileError(
            f"{os.path.basename(path)} cannot be moved: {OS_ERROR_REASONS[refusal.errno]}; nothing was changed",
            where=path,
            hint="unmount it, or give back the right to move it; `--keep` goes on without it",
        )


def _probe_move(path: str, occupied: str) -> OSError | None:
    """Give the system's reason against moving something, found without moving it: nothing can be moved onto a folder
    that holds something, and that is the last reason of all.
    """
    mode = None
    try:
        mode = _make_writable(path)
        os.rename(path, occupied)
    except OSError as error:
        return None if error.errno in HARMLESS_ERRNOS else error
    finally:
        _restore_mode(path, mode)
    os.rename(occupied, path)  # somebody has just removed that folder
    return None


def _fails_for_any_folder(layout: Layout) -> bool:
    """Tell whether the same is said of a folder that can be moved for certain (sshfs gives one reason for all)."""
    mine = os.path.join(layout.trash, ".try")
    os.makedirs(mine, exist_ok=True)
    try:
        return _probe_move(mine, layout.staging) is not None
    finally:
        remove_tree(layout.trash)


def _copy_and_delete(source: str, target: str) -> None:
    base, name = os.path.split(target)
    new = os.path.join(base, f".{name}.skillpm-new")
    remove_tree(new)
    if not copy_path(source, new):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), source)
    settling = FsyncQueue(fsync=True)
    settling.add(new)
    settling.wait()
    os.rename(new, target)
    remove_tree(source)


def _make_writable(path: str) -> int | None:
    """Make a folder of ours one that may be moved; give its mode where it was none."""
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode) and not mode & stat.S_IWUSR:
            os.chmod(path, stat.S_IMODE(mode) | stat.S_IWUSR)
            return stat.S_IMODE(mode)
    return None


def _restore_mode(path: str, mode: int | None) -> None:
    if mode is not None:
        with suppress(OSError):
            os.chmod(path, mode)
