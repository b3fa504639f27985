"""Stage new folders and documents inside the skills directory; nothing visible changes yet.

Staging is on the same file system as the skills, so one rename per folder puts it into place.
"""

import errno
import os
import stat
from collections.abc import Mapping
from queue import Queue
from threading import Thread

from skillpm.core.digest import Digest, compute_digest, content_hash
from skillpm.core.file_tree import FileTree
from skillpm.core.json_text.decoder import has_too_many_values
from skillpm.core.limits import MAX_DOCUMENT_SIZE
from skillpm.core.names import SKILL_FILE
from skillpm.core.values import Value
from skillpm.directories import (
    Directory,
    make_folder,
    make_folders,
    make_folders_in,
    make_link,
    open_directory,
    open_parent,
)
from skillpm.errors import FileError, RefusedError
from skillpm.files import (
    BINARY,
    NONBLOCK,
    make_synced_folders,
    remove_tree,
    sync_file,
    sync_folder,
    translate_os_errors,
    write_document,
    write_entry,
    write_new_file,
)
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.skill_file import find_skill_file, read_skill_file
from skillpm.installer.disk.stat_cache import FileStat, to_file_stat


class LiveLink(Value):
    """A link to a folder somewhere else."""

    target: str


class CopiedSource(Value):
    """A copy of an existing folder, link or file: a backup."""

    path: str


class ConvertedFile(Value):
    """A folder with one SKILL.md, made from a flat file of this mode."""

    data: bytes
    mode: int


SkillContent = FileTree | LiveLink | CopiedSource | ConvertedFile


def read_content_skill_file(layout: Layout, content: SkillContent) -> tuple[str, bytes]:
    """Return the name and the bytes of the SKILL.md in some content. Raises `OSError` if there is none."""
    match content:
        case FileTree():
            return content.skill_file, content.read(content.skill_file) or b""
        case ConvertedFile():
            return SKILL_FILE, content.data
        case LiveLink() | CopiedSource():
            folder = content_folder(layout, content)
            return find_skill_file(folder), read_skill_file(folder)


def digest_content(layout: Layout, content: SkillContent) -> Digest:
    """Return the digest of the folder that some content becomes."""
    match content:
        case FileTree():
            return content.digest
        case ConvertedFile():
            return compute_digest([(SKILL_FILE, content_hash(content.data))])
        case LiveLink() | CopiedSource():
            return digest_folder(content_folder(layout, content))


def content_folder(layout: Layout, content: LiveLink | CopiedSource) -> str:
    """Return the folder that holds the files. A relative link starts at the skills directory, where it will be put."""
    if isinstance(content, LiveLink):
        return os.path.join(layout.directory, content.target)
    if not os.path.islink(content.path):
        return content.path
    return os.path.normpath(os.path.join(layout.directory, os.readlink(content.path)))


IGNORE_ALL = b"*\n"
# Git must not convert what is committed: a digest is over bytes.
EXACT_BYTES = b"* -text -ident -filter -working-tree-encoding\n"
OWNER_READ_WRITE = 0o600
MODE_MASK = 0o755  # copies keep at most these bits: never setuid, never writable for others


def prepare_staging(layout: Layout, *, fsync: bool) -> None:
    """Create the internal folders and an empty staging folder.

    The caller holds the lock and has checked for a journal: this deletes everything that a pending change needs.
    """
    with translate_os_errors("write into the skills directory", layout.directory):
        make_synced_folders(layout.internal_dir, fsync=fsync)
        write_gitignore(layout, fsync=fsync)
        if layout.boundary and os.listdir(layout.directory) == [os.path.basename(layout.internal_dir)]:
            write_document(layout.gitattributes, EXACT_BYTES, fsync=fsync)  # of a project, which was just created
        remove_tree(layout.staging)
        remove_tree(layout.trash)
        make_folders(os.path.join(layout.staging, ".documents"))


def write_gitignore(layout: Layout, *, fsync: bool) -> None:
    """Write the `.gitignore` that keeps the internal folder out of commits, unless there is one."""
    if not os.path.exists(layout.gitignore):
        write_document(layout.gitignore, IGNORE_ALL, fsync=fsync)


def stage_skill(layout: Layout, name: str, content: SkillContent) -> dict[str, FileStat]:
    """Write a skill to staging and return the stats of its files. Of file modes, only the executable bit is kept.

    The files are not flushed: wait for an `FsyncQueue` before writing anything that relies on them.
    """
    target = os.path.join(layout.staging, name)
    with translate_os_errors(f"write skill {name}", target):
        if isinstance(content, LiveLink):
            make_link(target, content.target)
            return {}
        if isinstance(content, CopiedSource):
            if not copy_path(content.path, target):
                raise OSError(errno.EINVAL, "not a file, folder or link", content.path)
            return {}
        if isinstance(content, ConvertedFile):
            make_folder(target, 0o755)
            mode = (content.mode & MODE_MASK) | OWNER_READ_WRITE
            return {SKILL_FILE: to_file_stat(write_new_file(os.path.join(target, SKILL_FILE), content.data, mode))}
        with open_parent(target) as staging:
            staging.make_folder(name, 0o755)
            with staging.open_folder(name) as root:
                return _write_files(root, content)


def _write_files(root: Directory, tree: FileTree) -> dict[str, FileStat]:
    file_stats: dict[str, FileStat] = {}
    folder, at = root, ""
    try:
        for file in tree.files:
            path, _, name = file.path.rpartition("/")
            if path != at:  # files of a folder mostly follow each other
                if folder is not root:
                    folder.close()
                folder, at = make_folders_in(root, path, 0o755) if path else root, path
            file_stats[file.path] = to_file_stat(
                write_entry(folder, name, file.data, 0o755 if file.executable else 0o644)
            )
    finally:
        folder.close()
    return file_stats


def stage_documents(layout: Layout, documents: Mapping[str, str], *, fsync: bool) -> None:
    """Write the new documents to staging."""
    for role, text in documents.items():
        path = layout.staged_document_path(role)
        data = text.encode()
        if len(data) > MAX_DOCUMENT_SIZE or has_too_many_values(text):
            raise RefusedError(f"the {role} would be too large to be read again", hint="install fewer skills")
        with translate_os_errors(f"write the {role}", path):
            write_new_file(path, data, 0o644, fsync=fsync)


def copy_folder(source: str, target: str) -> None:
    """Copy a folder with its files and links (as links), keeping the modes within `MODE_MASK`."""
    pending = [(source, target)]  # not recursive: nesting may exceed Python's recursion limit
    while pending:
        source, target = pending.pop()
        make_folder(target, (stat.S_IMODE(os.stat(source).st_mode) & MODE_MASK) | 0o700)
        with open_directory(source) as old, open_directory(target) as new, old.entries() as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append((os.path.join(source, entry.name), os.path.join(target, entry.name)))
                else:
                    _copy_entry(old, entry.name, new, entry.name)


def copy_path(source: str, target: str) -> bool:
    """Copy a folder, a regular file or a link (as a link). Returns False, with nothing copied, for anything else."""
    with open_parent(source) as old, open_parent(target) as new:
        name = os.path.basename(source)
        if not stat.S_ISDIR(old.lstat(name).st_mode):
            return _copy_entry(old, name, new, os.path.basename(target))
    copy_folder(source, target)
    return True


def _copy_entry(source: Directory, name: str, target: Directory, new_name: str) -> bool:
    """Copy a regular file or a link (as a link). Returns False, with nothing copied, for anything else."""
    mode = source.lstat(name).st_mode
    if stat.S_ISLNK(mode):
        target.make_link(new_name, source.readlink(name))
    elif stat.S_ISREG(mode):
        with open(source.open_file(name, os.O_RDONLY | NONBLOCK | BINARY), "rb") as file:
            write_entry(target, new_name, file.read(), (stat.S_IMODE(mode) & MODE_MASK) | 0o600)
    else:
        return False
    return True


FSYNC_THREADS = 8  # the disk combines concurrent fsyncs: 300 files take 50 ms instead of 400 ms one by one


class FsyncQueue:
    """Flushes folders and files to disk in background threads, while the caller writes the next ones.

    Call `add` for each folder once it is complete, and `wait` before writing anything that relies on it. Without
    `fsync` both do nothing.
    """

    def __init__(self, *, fsync: bool) -> None:
        self._fsync = fsync
        self._queue: Queue[tuple[str, bool]] = Queue()
        self._error: FileError | None = None
        self._threads: list[Thread] = []

    def add(self, path: str) -> None:
        """Start flushing a file, or a folder with everything below it."""
        if self._fsync:
            self._queue.put((path, os.path.isdir(path) and not os.path.islink(path)))
            while len(self._threads) < FSYNC_THREADS:
                # Daemon threads: if the command fails before `wait`, they must not keep the process from exiting.
                self._threads.append(Thread(target=self._run_worker, daemon=True))
                self._threads[-1].start()

    def wait(self) -> None:
        """Wait until everything is on disk. Raises `FileError` if anything could not be flushed."""
        self._queue.join()
        if self._error is not None:
            raise self._error

    def _run_worker(self) -> None:
        while True:
            path, is_folder = self._queue.get()
            try:
                with translate_os_errors("flush a staged folder to disk", path):
                    if is_folder:
                        self._sync_folder(path)
                    else:
                        sync_file(path)
            except FileError as error:
                self._error = error
            finally:
                self._queue.task_done()

    def _sync_folder(self, folder: str) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                self._queue.put((entry.path, entry.is_dir(follow_symlinks=False)))
        sync_folder(folder)
