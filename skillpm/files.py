"""Files, touched carefully: whole documents written at once, trees removed without following links."""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from skillpm.errors import DocumentError, FileError, SkillpmError

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)
TEMPORARY_NAME = re.compile(r"(.+)\.(\d+)(?:-\d+)?\.(?:tmp|new)")
MAX_DOCUMENT_SIZE = 200_000_000
OS_ERROR_REASONS = {
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "permission denied",
    errno.EPERM: "not permitted",
    errno.EROFS: "the file system is read-only",
    errno.EIO: "input/output error",
    errno.ENAMETOOLONG: "the path is too long for this file system",
    errno.EBUSY: "it is in use, or something is mounted there",
    errno.EFBIG: "the file is larger than allowed here",
    errno.ENOTDIR: "a part of the path is no folder",
}


RESUME_HINT = "the next command finishes what has begun"


@contextmanager
def translate_os_errors(action: str, path: str, *, is_resumable: bool = False) -> Iterator[None]:
    """Turn the file system's refusals into an error that names what was being done, and where. `begun`: something was
    changed already, and will be finished.
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
    state = RESUME_HINT if is_resumable else "nothing was left half done"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"free some space and run the command again; {state}"
    if error.errno == errno.EIO:
        return f"check that disk (the system's log says more) and run the command again; {state}"
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        advice = "check who owns that place, or choose another with SKILLPM_HOME or SKILLPM_CACHE_DIR"
        return f"{advice}; {RESUME_HINT}" if is_resumable else advice
    return RESUME_HINT if is_resumable else ""


def read_text(path: str) -> str | None:
    """Give a document's text, or None where there is no such file. Not UTF-8 is a `DocumentError`."""
    try:
        return read_regular_file(path).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise DocumentError("this document is not UTF-8", where=path) from error
    except NotADirectoryError:
        return None
    except OSError as error:
        raise FileError(
            f"cannot read: {OS_ERROR_REASONS.get(error.errno or 0, error.strerror or '')}", where=path
        ) from error


def read_regular_file(path: str) -> bytes:
    """Give a document's bytes. Raises `OSError`, for anything but a regular file of a sensible size too: a checkout may
    bring a pipe, or a link to something endless.
    """
    descriptor = os.open(path, os.O_RDONLY | NONBLOCK | BINARY)
    with open(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(0, "it is no regular file", path)
        if state.st_size > MAX_DOCUMENT_SIZE:
            raise OSError(0, f"it is over {MAX_DOCUMENT_SIZE} bytes", path)
        return file.read(MAX_DOCUMENT_SIZE)


def write_document(
    path: str,
    data: bytes,
    *,
    fsync: bool,
    mode: int = 0o644,
    follow_links: bool = False,
    before_rename: Callable[[], None] = lambda: None,
) -> None:
    """Write a whole document, or leave the old one: temporary file beside it, then one rename.

    A link is replaced, unless `follow` is set: a manifest kept in dotfiles is often a link, and the file it points at
    is the document. `at_last` is called when all is ready for the rename, and may raise against it: somebody may save
    the document while the disk flushes ours.
    """
    make_folders(os.path.dirname(path), fsync=fsync)
    if follow_links:
        path = os.path.realpath(path)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        write_temporary(temporary, data, mode, fsync=fsync)
        before_rename()
        os.replace(temporary, path)
    except (OSError, SkillpmError):
        discard_file(temporary)
        raise
    if fsync:
        sync_folder(os.path.dirname(path))


def write_temporary(path: str, data: bytes, mode: int, *, fsync: bool = False) -> None:
    """Write a file that bears the number of this process. One that is there already is of somebody who was killed and
    had that number before: in a container each command has the same.
    """
    try:
        write_new_file(path, data, mode, fsync=fsync)
    except FileExistsError:
        discard_file(path)
        write_new_file(path, data, mode, fsync=fsync)


def write_new_file(path: str, data: bytes, mode: int, *, fsync: bool = False) -> os.stat_result:
    """Write a file that must not exist yet, and give its state afterwards."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY, mode)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        state = os.fstat(descriptor)
        if stat.S_IMODE(state.st_mode) != mode and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)  # whatever the umask is
            state = os.fstat(descriptor)
        if fsync:
            os.fsync(descriptor)
        return state
    finally:
        os.close(descriptor)


def make_folders(path: str, *, fsync: bool) -> None:
    """Make a folder and those it lies in, where they are not there; flushed, each is there after a power loss."""
    made = []
    at = path
    while fsync and at and not os.path.isdir(at):
        made.append(at)
        at = os.path.dirname(at)
    os.makedirs(path, exist_ok=True)
    for folder in reversed(made):
        sync_folder(os.path.dirname(folder) or os.curdir)


def sync_folder(path: str) -> None:
    """Ask the system to keep a folder's entries over a power loss, where it can."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: str) -> None:
    """Ask the system to keep a file's content over a power loss; a link, and what is no file, has none."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return
    # Windows flushes only what may be written.
    descriptor = os.open(path, (os.O_RDONLY if os.name == "posix" else os.O_RDWR) | NOFOLLOW | BINARY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def discard_file(path: str) -> None:
    """Remove a file or link if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def remove_tree(path: str) -> None:
    """Remove a file, a link or a folder with all that is in it; links are removed, never followed. What somebody else
    removes meanwhile is gone as well.
    """
    try:
        state = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISDIR(state.st_mode):
        discard_file(path)
        return
    todo = [path]  # as deep as it may be
    while todo:
        inner = []
        with suppress(FileNotFoundError):
            inner = _remove_files(todo[-1])
            if not inner:
                os.rmdir(todo[-1])
        todo += inner
        if not inner:
            todo.pop()


def _remove_files(folder: str) -> list[str]:
    """Remove what is in a folder but for the folders, and give these."""
    if os.lstat(folder).st_mode & 0o700 != 0o700:  # noqa: PLR2004  (somebody took the right to empty it)
        os.chmod(folder, 0o700)
    with os.scandir(folder) as entries:
        inside = list(entries)
    inner = []
    for entry in inside:
        if entry.is_dir(follow_symlinks=False):
            inner.append(entry.path)
        else:
            discard_file(entry.path)
    return inner


def is_process_alive(pid: int) -> bool:
    """Tell whether a process runs, so that what it writes is no leftover."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def remove_stale_temporaries(path: str) -> None:
    """Remove what processes that were killed left beside a file, of writing it; where that cannot be, it stays."""
    folder, name = os.path.split(path)
    for found in os.listdir(folder):
        match = TEMPORARY_NAME.fullmatch(found)
        if match is not None and match[1] == name and not is_process_alive(int(match[2])):
            with suppress(OSError):
                discard_file(os.path.join(folder, found))


def is_below(path: str, folder: str) -> bool:
    """Tell whether a resolved path lies in a resolved folder, or is it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
