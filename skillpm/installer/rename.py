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
# The file system or kernel does not support the exchange, so two renames do it. EXDEV: one folder comes from a lower
# overlayfs layer. EINVAL: the file system does not support the flag (renameat2(2)).
UNSUPPORTED_ERRNOS = frozenset([errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EXDEV])


def exchange(one: str, other: str) -> bool:
    """Swap two paths on one file system atomically. Returns False, with nothing changed, if that is not supported."""
    if os.name != "posix":
        return False
    import ctypes  # noqa: PLC0415  (slow to import, needed only to replace a folder)

    # Python has no binding for these calls. A swap leaves no moment at which an agent finds no skill at all.
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


# The errors of renaming something onto a folder that is not empty, if nothing else forbids the move.
TARGET_OCCUPIED_ERRNOS = frozenset([errno.ENOTEMPTY, errno.EEXIST, errno.EISDIR, errno.ENOTDIR])
PERMANENT_ERRNOS = frozenset([errno.EBUSY, errno.EPERM, errno.EACCES])
HARMLESS_ERRNOS = TARGET_OCCUPIED_ERRNOS | {errno.ENOENT, errno.EXDEV}


def move_path(source: str, target: str) -> None:
    """Move a file, link or folder; copy and delete it if it cannot be renamed. Raises `OSError`."""
    mode = _make_writable(source)
    try:
        os.rename(source, target)
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
        os.rename(path, occupied)
    except OSError as error:
        return None if error.errno in HARMLESS_ERRNOS else error
    finally:
        _restore_mode(path, mode)
    os.rename(occupied, path)  # it succeeded: another process emptied the folder meanwhile, so move it back
    return None


def _fails_for_any_folder(layout: Layout) -> bool:
    """Return whether the probe also fails for a new folder of our own.

    Then it proves nothing: sshfs, for example, returns one error for every failure.
    """
    probe_dir = os.path.join(layout.trash, ".try")
    os.makedirs(probe_dir, exist_ok=True)
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
    os.rename(new, target)
    remove_tree(source)


def _make_writable(path: str) -> int | None:
    """Make a folder writable for its owner; return its previous mode if that was necessary."""
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
