"""Directory descriptors: below a held folder, every change names one entry of an open directory.

A path is looked up again at every call. Between a check that no folder on it is a link and the call that relies on
this check, another user with the right to write there can replace a folder by a link, and skillpm would then write
into, or delete from, a folder of their choice. So a command holds the folders that it works in (`hold_folders`): each
is opened once, with the links that lead to it. From then on the functions here open every folder below it one by one,
never through a link, and change entries relative to the last one (ADR 53).

A path that is not below a held folder, as in the cache, is passed on unchanged; so is every path on a system whose
calls take no descriptors (Windows).
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import NamedTuple, Self

HAS_DESCRIPTORS = {os.open, os.mkdir, os.rename, os.rmdir, os.stat, os.symlink, os.unlink} <= os.supports_dir_fd and (
    os.scandir in os.supports_fd
)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
# Linux needs no right to read a folder in order to work in it.
_LOOK_UP = getattr(os, "O_PATH", os.O_RDONLY) | _DIRECTORY
AT_FDCWD = -100 if sys.platform == "linux" else -2
# The call that swaps two entries, and its flag: RENAME_EXCHANGE of Linux is RENAME_SWAP of macOS.
SWAP_CALLS = {"linux": "renameat2", "darwin": "renameatx_np"}
RENAME_SWAP = 2
# The file system or kernel does not support the exchange, so two renames do it. EXDEV: one folder comes from a lower
# overlayfs layer. EINVAL: the file system does not support the flag (renameat2(2)).
UNSUPPORTED_ERRNOS = frozenset([errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EXDEV])


class _Held(NamedTuple):
    # What is reached through the descriptor: this folder and everything below it.
    folder: str
    # What the descriptor is of: the folder or, as long as it does not exist, its nearest parent.
    path: str
    # None for a folder below a held one that is not held itself.
    descriptor: int | None


# Of each thread or task its own: a descriptor that one of them closes must not be in use by another.
_held_folders: ContextVar[tuple[_Held, ...]] = ContextVar("held_folders", default=())


@contextmanager
def hold_folders(folders: Iterable[str], *, boundary: str = "", exempt: Iterable[str] = ()) -> Iterator[None]:
    """Hold folders while the body runs: what is below them is reached only through their descriptors.

    Links that lead to a folder are followed once, now. With `boundary`, which is a held folder, they must stay inside
    of it, or `OSError` (ELOOP) is raised, and only the links below it are held, since it holds everything else. What is
    in an `exempt` folder is reached by path.
    """
    if not HAS_DESCRIPTORS:
        yield
        return
    before = _held_folders.get()
    opened: list[int] = []
    try:
        for folder in folders:
            for path in _find_links(folder, boundary) if boundary else [folder]:
                if path not in {held.folder for held in _held_folders.get()}:
                    existing = path if boundary else _find_existing(path)
                    opened.append(_open_link(path, boundary) if boundary else os.open(existing, _LOOK_UP))
                    # A path may name the folder with its links, or as `os.path.realpath` returns it.
                    real = _Held(os.path.realpath(path), os.path.realpath(existing), opened[-1])
                    _held_folders.set((*_held_folders.get(), _Held(path, existing, opened[-1]), real))
        _held_folders.set((*_held_folders.get(), *(_Held(path, path, None) for path in exempt)))
        yield
    finally:
        _held_folders.set(before)
        for descriptor in opened:
            os.close(descriptor)


def _find_existing(folder: str) -> str:
    """Return a folder, or its nearest parent that exists."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _find_links(folder: str, boundary: str) -> list[str]:
    """Return the links on the way from a boundary to a folder, the folder included."""
    paths = [boundary]
    for part in _parts_below(folder, boundary):
        paths.append(os.path.join(paths[-1], part))
    return [path for path in paths[1:] if os.path.islink(path)]


def _open_link(link: str, boundary: str) -> int:
    """Open the folder that a link leads to, if it is inside of a boundary."""
    real, top = os.path.realpath(link), os.path.realpath(boundary)
    if not _is_below(real, top):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), link)
    # Without following any link: the path was resolved a moment ago, and may lead elsewhere by now.
    with open_directory(real) as directory:
        return os.dup(directory.require_descriptor())


def is_below_held(path: str) -> bool:
    """Return whether a path is in a held folder, or is one."""
    return _find_held(path) is not None


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _find_held(path: str) -> tuple[str, int] | None:
    """Return the innermost held folder that contains a path, or is it, and its descriptor."""
    found: _Held | None = None
    for held in _held_folders.get():
        if _is_below(path, held.folder) and (found is None or len(held.folder) > len(found.folder)):
            found = held
    return None if found is None or found.descriptor is None else (found.path, found.descriptor)


def _parts_below(path: str, folder: str) -> list[str]:
    parts = [part for part in path[len(folder) :].split(os.sep) if part]
    if not _is_below(path, folder) or not {os.curdir, os.pardir}.isdisjoint(parts):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return parts


class Directory:
    """A folder whose entries are reached by name; without a descriptor, by the path of the folder and the name.

    An `OSError` of any method names the whole path of the entry.
    """

    __slots__ = ("descriptor", "path")

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the descriptor."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def require_descriptor(self) -> int:
        """Return the descriptor. Raises `OSError` if there is none."""
        if self.descriptor is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), self.path)
        return self.descriptor

    @contextmanager
    def entry(self, name: str) -> Iterator[str]:
        """Yield `name(name)`; an `OSError` of the body names the whole path of the entry."""
        try:
            yield self.name(name)
        except OSError as error:
            if self.descriptor is not None and error.filename == name:
                error.filename = os.path.join(self.path, name)
            raise

    def name(self, name: str) -> str:
        """Return what a call takes beside `dir_fd=directory.descriptor` to reach an entry."""
        return os.path.join(self.path, name) if self.descriptor is None else name

    def lstat(self, name: str) -> os.stat_result:
        """Return the state of an entry; of a link, its own."""
        with self.entry(name) as entry:
            return os.stat(entry, dir_fd=self.descriptor, follow_symlinks=False)

    def readlink(self, name: str) -> str:
        """Return the text of a link."""
        with self.entry(name) as entry:
            return os.readlink(entry, dir_fd=self.descriptor)

    def open_file(self, name: str, flags: int, mode: int = 0o777) -> int:
        """Open a file and return its descriptor; never through a link at its name."""
        with self.entry(name) as entry:
            return os.open(entry, flags | _NOFOLLOW, mode, dir_fd=self.descriptor)

    def open_folder(self, name: str) -> "Directory":
        """Open a folder in this one; below a held folder, never through a link."""
        path = os.path.join(self.path, name)
        if self.descriptor is None:
            return Directory(path, None)
        return Directory(path, _open_component(self.descriptor, name, path))

    def open_upper(self, identity: tuple[int, int]) -> "Directory":
        """Open the folder that contains this one. Raises `OSError` if it is another than that of this `identity`."""
        upper = Directory(os.path.dirname(self.path), None)
        if self.descriptor is not None:
            upper.descriptor = os.open(os.pardir, _LOOK_UP, dir_fd=self.descriptor)
            if upper.identity() != identity:  # this folder was moved
                upper.close()
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), self.path)
        return upper

    def identity(self) -> tuple[int, int]:
        """Return device and inode of the folder; without a descriptor, nothing that differs."""
        if self.descriptor is None:
            return (0, 0)
        state = os.fstat(self.descriptor)
        return (state.st_dev, state.st_ino)

    def make_folder(self, name: str, mode: int = 0o777) -> None:
        """Create a folder."""
        with self.entry(name) as entry:
            os.mkdir(entry, mode, dir_fd=self.descriptor)

    def make_link(self, name: str, target: str) -> None:
        """Create a link to a folder or file."""
        with self.entry(name) as entry:
            os.symlink(target, entry, target_is_directory=True, dir_fd=self.descriptor)

    def remove_file(self, name: str) -> None:
        """Remove a file or link."""
        with self.entry(name) as entry:
            os.unlink(entry, dir_fd=self.descriptor)

    def replace(self, name: str, new_name: str) -> None:
        """Rename an entry; a file replaces a file."""
        with self.entry(name) as entry:
            os.replace(entry, self.name(new_name), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        with self.entry(name) as entry:
            os.rmdir(entry, dir_fd=self.descriptor)

    def set_folder_mode(self, name: str, mode: int) -> None:
        """Set the mode of a folder; below a held folder, never of the target of a link."""
        if self.descriptor is None:
            os.chmod(self.name(name), mode)
            return
        with self.open_folder(name) as folder:
            _set_mode(folder.require_descriptor(), mode, folder.path)

    @contextmanager
    def entries(self) -> Iterator[list[os.DirEntry[str]]]:
        """Yield what is in the folder. Below a held folder, `path` of an entry is only its name."""
        if self.descriptor is None:
            with os.scandir(self.path) as iterator:
                yield list(iterator)
            return
        descriptor = _open_readable(self.descriptor, self.path)
        try:
            with os.scandir(descriptor) as iterator:
                yield list(iterator)
        finally:
            os.close(descriptor)


def _open_component(parent: int, name: str, path: str) -> int:
    try:
        return os.open(name, _LOOK_UP | _NOFOLLOW, dir_fd=parent)
    except OSError as error:
        number = error.errno
        if number in {errno.ENOTDIR, errno.ELOOP, errno.EMLINK}:
            number = errno.ENOTDIR
            with suppress(OSError):
                if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
                    number = errno.ELOOP  # `ENOTDIR` is often taken for "there is nothing", which is not true here
        raise OSError(number, os.strerror(number or 0), path) from None


def _open_readable(descriptor: int, path: str) -> int:
    try:
        return os.open(os.curdir, os.O_RDONLY | _DIRECTORY, dir_fd=descriptor)
    except OSError as error:
        error.filename = path
        raise


def _set_mode(descriptor: int, mode: int, path: str) -> None:
    try:
        readable = _open_readable(descriptor, path)
    except PermissionError:
        # A folder that its owner may not read. There is no fchmod(2) for O_PATH before Linux 6.6.
        os.chmod(f"/proc/self/fd/{descriptor}", mode)
        return
    try:
        os.chmod(readable, mode)
    finally:
        os.close(readable)


def open_directory(path: str) -> Directory:
    """Open a folder, one component at a time from the held folder above it. Raises `OSError`, ELOOP for a link."""
    return _open_directory(path, None)


def open_parent(path: str) -> Directory:
    """Open the folder that contains a path."""
    return open_directory(os.path.dirname(path))


def make_folders(path: str) -> list[str]:
    """Create a folder and its missing parents; return those that were created."""
    made: list[str] = []
    if is_below_held(path):
        _open_directory(path, made).close()
        return made
    at = path
    while at and not os.path.isdir(at):
        made.append(at)
        at = os.path.dirname(at)
    os.makedirs(path, exist_ok=True)
    return made[::-1]


def make_folders_in(folder: Directory, path: str, mode: int) -> Directory:
    """Create a folder and its missing parents in an open folder, and open it; `mode` is that of the last one."""
    whole = os.path.join(folder.path, path)
    if folder.descriptor is None:
        os.makedirs(whole, mode, exist_ok=True)
        return Directory(whole, None)
    return _walk(folder.path, folder.descriptor, whole, [], mode)


def _open_directory(path: str, made: list[str] | None) -> Directory:
    """Open a folder; with `made`, create what is missing, and add it there."""
    held = _find_held(path)
    return Directory(path, None) if held is None else _walk(*held, path, made, 0o777)


def _walk(at: str, descriptor: int, path: str, made: list[str] | None, mode: int) -> Directory:
    """Open a folder below an open one, and create what is missing, as `_open_directory` does."""
    descriptor = os.dup(descriptor)
    try:
        for part in _parts_below(path, at):
            parent, at = descriptor, os.path.join(at, part)
            try:
                descriptor = _open_component(parent, part, at)
            except FileNotFoundError:
                if made is None:
                    raise
                with suppress(FileExistsError):
                    Directory(os.path.dirname(at), parent).make_folder(part, mode if at == path else 0o777)
                    made.append(at)
                descriptor = _open_component(parent, part, at)
            except NotADirectoryError:
                if made is None or at != path:
                    raise
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
            os.close(parent)
    except BaseException:
        os.close(descriptor)
        raise
    return Directory(path, descriptor)


def make_folder(path: str, mode: int = 0o777) -> None:
    """Create a folder."""
    with open_parent(path) as parent:
        parent.make_folder(os.path.basename(path), mode)


def make_link(path: str, target: str) -> None:
    """Create a link."""
    with open_parent(path) as parent:
        parent.make_link(os.path.basename(path), target)


def remove_file(path: str) -> None:
    """Remove a file or link."""
    with open_parent(path) as parent:
        parent.remove_file(os.path.basename(path))


def remove_folder(path: str) -> None:
    """Remove an empty folder."""
    with open_parent(path) as parent:
        parent.remove_folder(os.path.basename(path))


def set_folder_mode(path: str, mode: int) -> None:
    """Set the mode of a folder."""
    with open_parent(path) as parent:
        parent.set_folder_mode(os.path.basename(path), mode)


def rename(source: str, target: str) -> None:
    """Rename an entry. Outside of Windows, a file replaces a file, and a folder an empty folder."""
    with open_parent(source) as old, open_parent(target) as new:
        names = old.name(os.path.basename(source)), new.name(os.path.basename(target))
        try:
            os.rename(*names, src_dir_fd=old.descriptor, dst_dir_fd=new.descriptor)
        except OSError as error:
            error.filename, error.filename2 = source, target
            raise


def exchange(one: str, other: str) -> bool:
    """Swap two entries on one file system atomically. Returns False, with nothing changed, if that is not supported."""
    if sys.platform not in SWAP_CALLS:
        return False
    import ctypes  # noqa: PLC0415  (slow to import, needed only to replace a folder)

    # Python has no binding for these calls. A swap leaves no moment at which an agent finds no skill at all.
    library = ctypes.CDLL(None, use_errno=True)
    with open_parent(one) as first, open_parent(other) as second:
        arguments = []
        for parent, path in ((first, one), (second, other)):
            arguments += [
                AT_FDCWD if parent.descriptor is None else parent.descriptor,
                os.fsencode(parent.name(os.path.basename(path))),
            ]
        call = getattr(library, SWAP_CALLS[sys.platform], None)  # an old libc has none
        if call is None:
            return False
        if call(*arguments, RENAME_SWAP) == 0:
            return True
    number = ctypes.get_errno()
    if number in UNSUPPORTED_ERRNOS:
        return False
    raise OSError(number, os.strerror(number), other)
