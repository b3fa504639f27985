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
from skillpm.files import REASONS, remove_tree
from skillpm.installer.layout import Layout
from skillpm.installer.staging import Settling, copy_as_it_lies

AT_FDCWD = -100
RENAME_EXCHANGE = 2  # Linux, renameat2(2)
RENAME_SWAP = 2  # macOS, renamex_np(2)
# EXDEV: one of them came with the image of a container.
CANNOT = frozenset([errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EXDEV])


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
    if number in CANNOT:
        return False
    raise OSError(number, os.strerror(number), other)


# What the system says to moving something onto a folder that holds something, when nothing else is against it.
IN_ITS_WAY = frozenset([errno.ENOTEMPTY, errno.EEXIST, errno.EISDIR, errno.ENOTDIR])
FOR_GOOD = frozenset([errno.EBUSY, errno.EPERM, errno.EACCES])
NO_REFUSAL = IN_ITS_WAY | {errno.ENOENT, errno.EXDEV}


def shift(source: str, target: str) -> None:
    """Move a file, a link or a folder, by copying it where the system cannot otherwise. Raises `OSError`."""
    mode = _lend(source)
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_over(source, target)
    finally:
        _take_back(target if os.path.lexists(target) else source, mode)


def swap(new: str, place: str) -> bool:
    """Exchange two folders in one step; False where the system cannot, and nothing has happened."""
    _lend(place)
    return exchange(new, place)


def refuse_unmovable(layout: Layout, paths: Iterable[str]) -> None:
    """Raise `FileError` for what the system will not let us move, `OSError` where it says other things. Only under the
    lock, with a staging place.
    """
    for path in paths:
        refusal = _refusal(path, layout.staging) if os.path.lexists(path) else None
        if refusal is None or _refuses_all(layout):
            continue
        if refusal.errno not in FOR_GOOD:
            raise refusal
        raise FileError(
            f"{os.path.basename(path)} cannot be moved: {REASONS[refusal.errno]}; nothing was changed",
            where=path,
            hint="unmount it, or give back the right to move it; `--keep` goes on without it",
        )


def _refusal(path: str, full: str) -> OSError | None:
    """Give the system's reason against moving something, found without moving it: nothing can be moved onto a folder
    that holds something, and that is the last reason of all.
    """
    mode = None
    try:
        mode = _lend(path)
        os.rename(path, full)
    except OSError as error:
        return None if error.errno in NO_REFUSAL else error
    finally:
        _take_back(path, mode)
    os.rename(full, path)  # somebody has just removed that folder
    return None


def _refuses_all(layout: Layout) -> bool:
    """Tell whether the same is said of a folder that can be moved for certain (sshfs gives one reason for all)."""
    mine = os.path.join(layout.trash, ".try")
    os.makedirs(mine, exist_ok=True)
    try:
        return _refusal(mine, layout.staging) is not None
    finally:
        remove_tree(layout.trash)


def _copy_over(source: str, target: str) -> None:
    base, name = os.path.split(target)
    new = os.path.join(base, f".{name}.skillpm-new")
    remove_tree(new)
    if not copy_as_it_lies(source, new):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), source)
    settling = Settling(fsync=True)
    settling.begin(new)
    settling.wait()
    os.rename(new, target)
    remove_tree(source)


def _lend(path: str) -> int | None:
    """Make a folder of ours one that may be moved; give its mode where it was none."""
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode) and not mode & stat.S_IWUSR:
            os.chmod(path, stat.S_IMODE(mode) | stat.S_IWUSR)
            return stat.S_IMODE(mode)
    return None


def _take_back(path: str, mode: int | None) -> None:
    if mode is not None:
        with suppress(OSError):
            os.chmod(path, mode)
