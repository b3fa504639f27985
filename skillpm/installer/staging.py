"""Put new folders and documents where one rename brings them to their place; nothing visible changes yet."""

import errno
import os
import stat
from collections.abc import Mapping
from queue import Queue
from threading import Thread

from skillpm.core.file_tree import FileTree
from skillpm.core.values import Value
from skillpm.errors import FileError
from skillpm.files import (
    make_folders,
    remove_tree,
    sync_file,
    sync_folder,
    translate_os_errors,
    write_document,
    write_new_file,
)
from skillpm.installer.layout import Layout
from skillpm.installer.stat_cache import FileStat, to_file_stat

IGNORE_ALL = b"*\n"
MODE_MASK = 0o755  # what a copy allows at most: nothing setuid, nothing that others may write


class LiveLink(Value):
    """A skill that is a link to a folder somewhere else."""

    target: str


class CopiedSource(Value):
    """A skill that comes from what lies somewhere, a folder, a link or a file: a backup."""

    path: str


SkillContent = FileTree | LiveLink | CopiedSource


def prepare_staging(layout: Layout, *, fsync: bool) -> None:
    """Make the folders of a skills directory, and an empty staging place. Only under the lock, without a journal."""
    with translate_os_errors("write into the skills directory", layout.directory):
        make_folders(layout.internal_dir, fsync=fsync)
        write_gitignore(layout, fsync=fsync)
        remove_tree(layout.staging)
        remove_tree(layout.trash)
        os.makedirs(os.path.join(layout.staging, ".documents"))


def write_gitignore(layout: Layout, *, fsync: bool) -> None:
    """Write the `.gitignore` that keeps our own folder out of people's commits, where there is none."""
    if not os.path.exists(layout.gitignore):
        write_document(layout.gitignore, IGNORE_ALL, fsync=fsync)


def stage_skill(layout: Layout, name: str, content: SkillContent) -> dict[str, FileStat]:
    """Write a skill into staging; give the stamps of its files. Executable bits are the only modes that are kept.

    Nothing may rely on it before it has settled (`Settling`).
    """
    place = os.path.join(layout.staging, name)
    with translate_os_errors(f"write skill {name}", place):
        if isinstance(content, LiveLink):
            os.symlink(content.target, place, target_is_directory=True)
            return {}
        if isinstance(content, CopiedSource):
            if not copy_path(content.path, place):
                raise OSError(errno.EINVAL, "it is neither a folder nor a file nor a link", content.path)
            return {}
        stamps = {}
        folders = {place}
        os.mkdir(place, 0o755)
        for file in content.files:
            path = f"{place}/{file.path}"
            folder = path[: path.rindex("/")]
            if folder not in folders:
                os.makedirs(folder, 0o755, exist_ok=True)
                folders.add(folder)
            stamps[file.path] = to_file_stat(write_new_file(path, file.data, 0o755 if file.executable else 0o644))
        return stamps


def stage_documents(layout: Layout, documents: Mapping[str, str], *, fsync: bool) -> None:
    """Write the new documents into staging, where they stay until the change is over."""
    for role, text in documents.items():
        path = layout.staged_document_path(role)
        with translate_os_errors(f"write the {role}", path):
            write_new_file(path, text.encode(), 0o644, fsync=fsync)


def copy_folder(source: str, target: str) -> None:
    """Copy a folder with files, links as links, and who may read and execute them."""
    todo = [(source, target)]  # as deep as it may be
    while todo:
        source, target = todo.pop()
        os.mkdir(target, (stat.S_IMODE(os.stat(source).st_mode) & MODE_MASK) | 0o700)
        with os.scandir(source) as entries:
            inside = list(entries)
        for entry in inside:
            place = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False):
                todo.append((entry.path, place))
            else:
                copy_path(entry.path, place)


def copy_path(source: str, target: str) -> bool:
    """Copy a folder, a file or a link (as a link); tell whether it was any of these."""
    mode = os.lstat(source).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(source), target)
    elif stat.S_ISDIR(mode):
        copy_folder(source, target)
    elif stat.S_ISREG(mode):
        with open(source, "rb") as file:
            write_new_file(target, file.read(), (stat.S_IMODE(mode) & MODE_MASK) | 0o600)
    else:
        return False
    return True


FSYNC_THREADS = 8  # fsyncs that wait together are carried out together: three hundred take 50 ms instead of 400


class FsyncQueue:
    """Asks the system, beside other work, to keep folders and all that is in them over a power loss.

    `begin` with each folder when all is in it, and `wait` before anything is written that relies on them. Without
    `fsync` nothing is asked.
    """

    def __init__(self, *, fsync: bool) -> None:
        self._fsync = fsync
        self._queue: Queue[tuple[str, bool]] = Queue()
        self._error: FileError | None = None
        self._threads: list[Thread] = []

    def add(self, path: str) -> None:
        """Begin with a folder and all that is below it, or with a file."""
        if self._fsync:
            self._queue.put((path, os.path.isdir(path) and not os.path.islink(path)))
            while len(self._threads) < FSYNC_THREADS:
                # Whoever fails before `wait` leaves them waiting for more: that must not keep the process from ending.
                self._threads.append(Thread(target=self._run_worker, daemon=True))
                self._threads[-1].start()

    def wait(self) -> None:
        """Wait until all are there. Raises `FileError` when one could not be kept."""
        self._queue.join()
        if self._error is not None:
            raise self._error

    def _run_worker(self) -> None:
        while True:
            place, is_folder = self._queue.get()
            try:
                with translate_os_errors("keep a staged folder", place):
                    if is_folder:
                        self._sync_folder(place)
                    else:
                        sync_file(place)
            except FileError as error:
                self._error = error
            finally:
                self._queue.task_done()

    def _sync_folder(self, folder: str) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                self._queue.put((entry.path, entry.is_dir(follow_symlinks=False)))
        sync_folder(folder)
