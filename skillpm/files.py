"""File operations: atomic writes of whole documents, removal of trees that follows no links, fsync."""

import errno
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, BinaryIO

from skillpm.core.limits import MAX_DOCUMENT_SIZE
from skillpm.core.patterns import lazy_pattern
from skillpm.directories import Directory, hold_folders, is_below_held, make_folders, open_parent
from skillpm.errors import DocumentError, FileError, SkillpmError

if TYPE_CHECKING:
    import subprocess

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)
TEMPORARY_NAME = lazy_pattern(r"(.+)\.(\d+)(?:-\d+)?\.(?:tmp|new)")
MAX_FILE_SIZE = 200_000_000  # bytes, of any file that is read whole; documents have a lower limit
OS_ERROR_REASONS = {
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "disk quota exceeded",
    errno.EACCES: "permission denied",
    errno.EPERM: "not permitted",
    errno.EROFS: "the file system is read-only",
    errno.EIO: "input/output error",
    errno.ENAMETOOLONG: "the path is too long for this file system",
    errno.EBUSY: "it is in use, or a mount point",
    errno.EFBIG: "the file is larger than the file system or a limit of this process allows",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.ELOOP: "a part of the path is a link",
}


CHECK_OWNER_HINT = "check its owner and permissions"
RESUME_HINT = "the next command completes the change"


@contextmanager
def translate_os_errors(action: str, path: str, *, is_resumable: bool = False) -> Iterator[None]:
    """Convert an `OSError` into a `FileError` that names the action and the path.

    `is_resumable`: the change is journaled, and the next command completes it.
    """
    try:
        yield
    except OSError as error:
        reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or str(error))
        where = error.filename if isinstance(error.filename, str) else path
        raise FileError(
            f"cannot {action}: {reason}", where=where, hint=_os_error_hint(error, is_resumable=is_resumable)
        ) from error


def _os_error_hint(error: OSError, *, is_resumable: bool) -> str:
    state = RESUME_HINT if is_resumable else "no partial change was left"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"free some space and run the command again; {state}"
    if error.errno == errno.EFBIG:
        return f"check the limit of file sizes (`ulimit -f`); {state}"
    if error.errno == errno.EIO:
        return f"check the disk (see the system log), then run the command again; {state}"
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"{CHECK_OWNER_HINT}; {RESUME_HINT}" if is_resumable else CHECK_OWNER_HINT
    return RESUME_HINT if is_resumable else ""


def read_text(path: str) -> str | None:
    """Return a document's text, or None if the file does not exist. Raises `DocumentError` if it is not UTF-8.

    A byte order mark, which some editors write, is left out.
    """
    try:
        return read_regular_file(path, MAX_DOCUMENT_SIZE).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise DocumentError("this document is not UTF-8", where=path) from error
    except OSError as error:
        raise FileError(
            f"cannot read: {OS_ERROR_REASONS.get(error.errno or 0, error.strerror or '')}", where=path
        ) from error


def read_regular_file(path: str, max_size: int = MAX_FILE_SIZE) -> bytes:
    """Return a file's bytes. Raises `OSError`, also for anything but a regular file of up to `max_size` bytes."""
    with open_regular_file(path) as file:
        if os.fstat(file.fileno()).st_size > max_size:
            raise OSError(0, f"larger than {max_size} bytes", path)
        return file.read(max_size)


def open_regular_file(path: str) -> BinaryIO:
    """Open a file to read it. Raises `OSError`, also for anything but a regular file."""
    # A cloned project may contain a named pipe, or a link to /dev/zero: opening the one would block without NONBLOCK,
    # reading the other would never end.
    file = open(os.open(path, os.O_RDONLY | NONBLOCK | BINARY), "rb")  # noqa: SIM115  (the caller closes it)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(0, "not a regular file", path)
    return file


def write_document(
    path: str,
    data: bytes,
    *,
    fsync: bool,
    mode: int = 0o644,
    link_boundary: str | None = None,
    before_rename: Callable[[str], None] = lambda _: None,
) -> None:
    """Replace a document atomically: write a temporary file beside it, then rename it.

    A link is replaced by the file, unless `link_boundary` is set: a manifest kept with dotfiles is often a link, and
    its target is the document. Then the target must be in that folder, if it is not empty. `before_rename` is called
    last, with the path of the target, and may raise to cancel: the user may save the document while ours is being
    flushed to disk.
    """
    with _hold_target(path, link_boundary, fsync=fsync) as target, open_parent(target) as folder:
        name = os.path.basename(target)
        temporary = f"{name}.{os.getpid()}.tmp"
        try:
            _write_temporary(folder, temporary, data, mode, fsync=fsync)
            before_rename(target)
            folder.replace(temporary, name)
        except (OSError, SkillpmError):
            _discard(folder, temporary)
            raise
        if fsync:
            sync_folder(os.path.dirname(target))


@contextmanager
def _hold_target(path: str, link_boundary: str | None, *, fsync: bool) -> Iterator[str]:
    """Yield the document that is to be replaced. Its folder exists, and is held or below a held one."""
    parent = os.path.dirname(path)
    if link_boundary is not None:
        path, parent = os.path.realpath(path), os.path.realpath(parent)
    if link_boundary:
        link_boundary = os.path.realpath(link_boundary)
        if not is_below(path, link_boundary):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    with nullcontext() if is_below_held(path) else hold_folders([link_boundary or os.path.dirname(path)]):
        make_synced_folders(parent, fsync=fsync)
        yield path


def write_temporary(path: str, data: bytes, mode: int) -> None:
    """Write a temporary file whose name contains the id of this process."""
    with open_parent(path) as folder:
        _write_temporary(folder, os.path.basename(path), data, mode, fsync=False)


def _write_temporary(folder: Directory, name: str, data: bytes, mode: int, *, fsync: bool) -> None:
    try:
        write_entry(folder, name, data, mode, fsync=fsync)
    except FileExistsError:
        # Left by a killed process that had the same id: in a container, every command has.
        _discard(folder, name)
        write_entry(folder, name, data, mode, fsync=fsync)


def write_new_file(path: str, data: bytes, mode: int, *, fsync: bool = False) -> os.stat_result:
    """Write a file that must not exist yet; return its state. Raises `FileExistsError`."""
    with open_parent(path) as folder:
        return write_entry(folder, os.path.basename(path), data, mode, fsync=fsync)


def write_entry(folder: Directory, name: str, data: bytes, mode: int, *, fsync: bool = False) -> os.stat_result:
    """Write a file that must not exist yet in an open folder; return its state. Raises `FileExistsError`."""
    descriptor = folder.open_file(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, mode)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        state = os.fstat(descriptor)
        if stat.S_IMODE(state.st_mode) != mode and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)  # the umask applied to the mode of os.open
            state = os.fstat(descriptor)
        if fsync:
            os.fsync(descriptor)
        return state
    finally:
        os.close(descriptor)


def make_synced_folders(path: str, *, fsync: bool) -> None:
    """Create a folder and its missing parents; with `fsync`, they survive a power loss."""
    made = make_folders(path)
    for folder in made if fsync else ():
        sync_folder(os.path.dirname(folder) or os.curdir)


def sync_folder(path: str) -> None:
    """Flush the entries of a folder to disk, on systems where that is possible."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: str) -> None:
    """Flush the content of a regular file to disk; anything else is ignored."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return
    # Windows flushes only files that are open for writing.
    descriptor = os.open(path, (os.O_RDONLY if os.name == "posix" else os.O_RDWR) | NOFOLLOW | BINARY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def discard_file(path: str) -> None:
    """Remove a file or link if it exists."""
    with suppress(FileNotFoundError), open_parent(path) as folder:
        folder.remove_file(os.path.basename(path))


def _discard(folder: Directory, name: str) -> None:
    with suppress(FileNotFoundError):
        folder.remove_file(name)


def remove_tree(path: str) -> None:
    """Remove a file, a link, or a folder and its contents. Links are removed, never followed.

    Entries that another process removes at the same time are ignored.
    """
    try:
        folder = open_parent(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    with suppress(FileNotFoundError):
        _remove_below(folder, os.path.basename(path))


def _remove_below(folder: Directory, name: str) -> None:
    """Remove an entry of a folder, and close the folder."""
    # A stack, not recursion: a tree may be deeper than Python's recursion limit. For the same reason only one folder is
    # open: a process may have only so many.
    pending, identities = [[name]], [folder.identity()]
    try:
        while True:
            while pending[-1]:
                name = pending[-1].pop()
                if (subfolder := _open_to_remove(folder, name)) is not None:
                    folder.close()
                    folder = subfolder
                    identities.append(folder.identity())
                    pending.append(_remove_files(folder))
            pending.pop()
            identities.pop()
            if not pending:
                return
            name, subfolder = os.path.basename(folder.path), folder
            with subfolder:
                folder = subfolder.open_upper(identities[-1])
            with suppress(FileNotFoundError):
                folder.remove_folder(name)
    finally:
        folder.close()


def _open_to_remove(folder: Directory, name: str) -> Directory | None:
    """Open a folder that is to be removed; remove anything else, and return None."""
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = folder.lstat(name).st_mode
        if not stat.S_ISDIR(mode):
            folder.remove_file(name)
            return None
        if mode & 0o700 != 0o700:  # noqa: PLR2004  (a read-only folder cannot be emptied)
            folder.set_folder_mode(name, 0o700)
        return folder.open_folder(name)
    return None


def _remove_files(folder: Directory) -> list[str]:
    """Remove everything in a folder except its subfolders; return their names."""
    subfolders = []
    with suppress(FileNotFoundError), folder.entries() as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                subfolders.append(entry.name)
            else:
                _discard(folder, entry.name)
    return subfolders


def read_start(descriptor: int, size: int) -> bytes:
    """Return the first bytes of a file that is open; on Windows, which has no pread, this moves its position."""
    if hasattr(os, "pread"):
        return bytes(os.pread(descriptor, size, 0))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, size)


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its process group; on Windows, which has no such groups, the process alone."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def is_process_alive(pid: int) -> bool:
    """Return whether a process with this id is running."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs as another user
        return True
    return True


def remove_stale_temporaries(path: str) -> None:
    """Remove, as far as possible, the temporary files that killed processes left beside a file they were writing.

    With a path that ends with a separator, all those in a folder.
    """
    folder, name = os.path.split(path)
    for entry in os.listdir(folder):
        match = TEMPORARY_NAME.fullmatch(entry)
        if match is not None and (not name or match[1] == name) and not is_process_alive(int(match[2])):
            with suppress(OSError):
                discard_file(os.path.join(folder, entry))


def is_below(path: str, folder: str) -> bool:
    """Return whether a resolved path is in a resolved folder, or is that folder."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def find_link_out(path: str, boundary: str) -> str:
    """Return the first link on an absolute path that is inside `boundary` and leads out of it; empty if none does.

    A link outside the boundary does not count: it did not come with what is inside.
    """
    boundary, folder = os.path.realpath(boundary), os.path.sep
    for part in path.split(os.path.sep):
        entry = os.path.join(folder, part)
        target = os.path.realpath(entry)
        if is_below(folder, boundary) and not is_below(target, boundary) and os.path.islink(entry):
            return entry
        folder = target
    return ""


def is_writable(folder: str) -> bool:
    """Return whether files can be created in a folder, or the folder itself. Anything but a folder is another error."""
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:  # the drive may not exist
        folder = os.path.dirname(folder)
    return not os.path.isdir(folder) or os.access(folder, os.W_OK | os.X_OK)
