"""Skills that are unpacked in the cache to be used once: folders whose every byte is checked before each use."""

import os
import stat
import threading

from skillpm.cachedir import record_use, retry_if_emptied, tag_cache_folder
from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.names import SkillName
from skillpm.errors import BusyError
from skillpm.files import remove_tree, translate_os_errors, write_new_file
from skillpm.installer.disk.disk_state import HAS_EXECUTABLE_BITS, walk_files
from skillpm.installer.disk.rename import TARGET_OCCUPIED_ERRNOS

MAX_ATTEMPTS = 5


def unpack_skill(cache_dir: str, name: SkillName, tree: FileTree, variant: str) -> str:
    """Return a folder in the cache that contains exactly these files; what differs is removed or written again.

    Several processes may call it for the same skill: a folder appears complete, by a rename. Raises `FileError`, and
    `BusyError` if another process changes the folder again and again.
    """
    key = tree.digest.removeprefix("sha256:") + (f"-{variant[:16]}" if variant else "")
    entry = os.path.join(cache_dir, "unpacked", key)
    folder = os.path.join(entry, name)
    with translate_os_errors(f"unpack skill {name}", folder):
        # In a cache that came with a checkout, a link could lead the removal of other files into the user's folders.
        for path in (os.path.dirname(entry), entry):
            if os.path.islink(path):
                os.unlink(path)
        for _ in range(MAX_ATTEMPTS):
            if _is_exact(folder, tree):
                record_use(entry)
                return folder
            tag_cache_folder(cache_dir)
            retry_if_emptied(lambda: _replace_folder(folder, tree), entry)
    raise BusyError(f"{folder} keeps changing", hint="check what changes it, and run the command again")


def _is_exact(folder: str, tree: FileTree) -> bool:
    """Return whether a folder contains these files. Any others in it are removed: a program may run what it finds."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return False
    missing = {file.path: file for file in tree.files}
    try:
        for path, entry in walk_files(folder, None):
            file = missing.pop(path, None)
            if file is None:
                remove_tree(entry.path)
            elif not _is_same(entry, file):
                return False
    except FileNotFoundError:  # another process is replacing the folder
        return False
    return not missing


def _is_same(entry: os.DirEntry[str], file: TreeFile) -> bool:
    state = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(state.st_mode) or state.st_size != len(file.data):
        return False
    if HAS_EXECUTABLE_BITS and bool(state.st_mode & 0o100) != file.executable:
        return False
    with open(entry.path, "rb") as opened:
        return opened.read() == file.data


def _replace_folder(folder: str, tree: FileTree) -> None:
    temporary = f"{folder}.{os.getpid()}-{threading.get_ident()}.new"
    try:
        for file in tree.files:
            path = os.path.join(temporary, file.path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_new_file(path, file.data, 0o755 if file.executable else 0o644)
        # Another process may have been faster, and its caller is reading from the folder already.
        if not _try_rename(temporary, folder) and not _is_exact(folder, tree):
            remove_tree(folder)
            _try_rename(temporary, folder)
    finally:
        remove_tree(temporary)


def _try_rename(source: str, target: str) -> bool:
    """Rename a folder; return False if there is something at the target."""
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno not in TARGET_OCCUPIED_ERRNOS:
            raise
        return False
    return True
