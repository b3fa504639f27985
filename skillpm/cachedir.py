"""`CACHEDIR.TAG`, the mark of a cache folder, and atomic writes to the cache.

Backup programs skip tagged folders (https://bford.info/cachedir/), and skillpm never empties a folder without the tag:
with SKILLPM_CACHE_DIR set to HOME by mistake, `cache clean` would delete the home folder.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, TypeVar

from skillpm.errors import FileError
from skillpm.files import (
    BINARY,
    NOFOLLOW,
    NONBLOCK,
    discard_file,
    remove_stale_temporaries,
    translate_os_errors,
    write_temporary,
)

TAG_FILE = "CACHEDIR.TAG"
SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of skillpm"
TAG_CONTENT = SIGNATURE + b" and may be deleted at any time.\n# About this file: https://bford.info/cachedir/\n"
# The folder of what was found out about contents and policies: findings, what was accepted, parsed copies.
VERDICTS = "verdicts"
PUBLISH_LOCK_DIR = "publishing"
DAY_SECONDS = 86_400.0
MAX_ATTEMPTS = 5
REPAIR_HINT = "`skillpm doctor --fix` removes what cannot be used; or set SKILLPM_CACHE_DIR to another folder"
Result = TypeVar("Result")


@contextmanager
def translate_cache_errors(action: str, path: str) -> Iterator[None]:
    """Translate errors as `translate_os_errors` does, for the cache: the hint is how to repair its permissions."""
    try:
        with translate_os_errors(action, path):
            yield
    except FileError as error:
        if isinstance(error.__cause__, PermissionError):
            error.hint = REPAIR_HINT
        raise


def tag_cache_folder(folder: str) -> None:
    """Create the tag in a cache folder unless it exists. Raises `OSError`."""
    if is_tagged(folder):
        return
    write_cache_file(os.path.join(folder, TAG_FILE), TAG_CONTENT)


def write_cache_file(path: str, data: bytes, mode: int = 0o644) -> None:
    """Write a file to the cache atomically; remove partial files of killed processes. Raises `OSError`."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    _remove_stale_once(os.path.dirname(path))
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}.new"
    try:
        write_temporary(temporary, data, mode)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            discard_file(temporary)
        raise


def write_bound_file(path: str, value: Mapping[str, Any], cache_dir: str, *, is_shared: bool = False) -> None:
    """Write JSON that counts only in this very file: it names the file's device and inode. Raises `OSError`.

    Neither git nor an archive carries them over, nor a cache that a CI service restores from a pull request. With
    `is_shared`, other users may read it, as they may read the store.
    """
    import json  # noqa: PLC0415  (few commands write such files)

    tag_cache_folder(cache_dir)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    _remove_stale_once(os.path.dirname(path))
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY, 0o600)
    try:
        with open(descriptor, "wb") as file:
            if is_shared and hasattr(os, "fchmod"):
                os.fchmod(descriptor, 0o644)
            state = os.fstat(descriptor)  # a rename keeps the inode
            file.write(json.dumps({"device": state.st_dev, "inode": state.st_ino, **value}).encode())
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            discard_file(temporary)
        raise


@lru_cache(maxsize=512)  # the store has 256 folders
def _remove_stale_once(folder: str) -> None:
    """Remove partial files of killed processes; once, since a command may write thousands of entries."""
    remove_stale_temporaries(os.path.join(folder, ""))


def read_bound_file(path: str, max_size: int) -> Mapping[str, Any] | None:
    """Return what root or the current user wrote to this very file; None for anything else."""
    import json  # noqa: PLC0415

    try:
        descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY)
        with open(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            data = file.read(max_size) if stat.S_ISREG(state.st_mode) and state.st_size <= max_size else b""
        value = json.loads(data)
        is_own = [value["device"], value["inode"]] == [state.st_dev, state.st_ino]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return value if is_own and is_own_entry(path, state) else None


def is_own_entry(path: str, state: os.stat_result) -> bool:
    """Return whether an entry of a shared cache counts: only root and the current user can have written it.

    Nobody else may own it, or be able to replace it or a folder above it: a claim in it, such as that content passed
    the audit, would otherwise be theirs.
    """
    return _is_own(state) and _is_own_folder(os.path.dirname(path))


@lru_cache(maxsize=64)
def _is_own_folder(folder: str) -> bool:
    folder = os.path.realpath(folder)
    try:
        state = os.stat(folder)
    except OSError:
        return False
    # In a sticky folder like /tmp, only the owner of a file can replace it.
    is_shared = state.st_mode & stat.S_IWOTH or (state.st_mode & stat.S_IWGRP and not _is_private_group(state.st_gid))
    if not _is_own(state) or (is_shared and not state.st_mode & stat.S_ISVTX):
        return False
    parent = os.path.dirname(folder)
    return parent == folder or _is_own_folder(parent)


def _is_own(state: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or state.st_uid in {0, os.geteuid()}


def _is_private_group(group: int) -> bool:
    """Return whether a group is that of root, or the user's own: systems that create such groups number them alike."""
    return not hasattr(os, "geteuid") or group in {0, os.geteuid()}


def retry_if_emptied(action: Callable[[], Result], folder: str) -> Result:
    """Run an action in a cache folder; retry if another process empties the cache at the same time."""
    for _ in range(MAX_ATTEMPTS):
        with suppress(FileNotFoundError):
            return action()
        with suppress(FileNotFoundError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
    return action()


def is_tagged(folder: str) -> bool:
    """Return whether skillpm created this cache folder. False for a link to one."""
    try:
        if os.path.islink(folder):
            return False
        descriptor = os.open(os.path.join(folder, TAG_FILE), os.O_RDONLY | NOFOLLOW | NONBLOCK)
        with open(descriptor, "rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:
        return False


def record_use(path: str) -> None:
    """Set the modification time of a cache entry, at most once a day: `cache prune` removes unused ones by it."""
    with suppress(OSError):  # a read-only cache works, too
        now = time.time()
        if not now - DAY_SECONDS < os.stat(path, follow_symlinks=False).st_mtime <= now:
            os.utime(path, (now, now), follow_symlinks=False)
