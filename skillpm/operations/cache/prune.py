"""`cache prune` and `cache clean`: remove unused entries, or everything, from the cache while other commands run.

Everything in the cache can be fetched again, and installed skills are copies that do not need it. Since skillpm does
not know all projects of a machine, "unused" means: not used for some days, and not named by the lockfile of this scope
or of the user. Use is recorded to the day (ADR 17).

Store entries are removed without a lock: they are read as a whole or not at all, and a reader that misses one fetches
it. A repository is removed under its lock, and stays if it is in use. A held lock file stays as well: if it were
removed, another process could create and take a second lock. Links are never followed, and a folder without skillpm's
cache tag is never touched.

After `cache clean` three things stay: repositories and locks that are in use; files that a living process is writing
and about to rename; and a few hundred bytes of the cache folder itself. These are the tag, without which skillpm would
refuse to clean the folder the next time, and the empty folder in which git is run, with its configuration: a git
process that is just starting would otherwise run in a deleted directory.
"""

import os
import re
import time
from collections.abc import Collection, Iterator
from contextlib import suppress

from skillpm.cachedir import DAY_SECONDS, TAG_FILE, is_tagged
from skillpm.core.patterns import lazy_pattern
from skillpm.core.values import Value
from skillpm.errors import BusyError, ConflictError
from skillpm.files import discard_file, is_process_alive, remove_tree, translate_os_errors
from skillpm.locks import hold_lock
from skillpm.operations.cache.contents import (
    BUCKETS,
    cache_root,
    disk_usage,
    find_locked_paths,
    inspect_cache,
    scan_folder,
    writer_pid,
)
from skillpm.scope.scope import Scope
from skillpm.settings import Settings

GIT_WORK_DIR = lazy_pattern(r"empty|config-[0-9a-f]{12}", re.ASCII)


class PruneResult(Value):
    """What was removed, or would be with `--dry-run`."""

    paths: tuple[str, ...]
    size: int  # bytes
    busy: tuple[str, ...] = ()  # repositories and locks left because they are in use


def prune(settings: Settings, scopes: Collection[Scope], *, unused_for: float, dry_run: bool = False) -> PruneResult:
    """Remove leftovers, and what was not used for `unused_for` days and is not named by a lockfile of these scopes.

    Raises `ConflictError` for a folder that is not a skillpm cache.
    """
    check_is_cache(settings)
    contents = inspect_cache(settings)
    limit = time.time() - unused_for * DAY_SECONDS
    needed = find_locked_paths(settings, scopes)
    unused = [entry.path for entry in contents.entries if entry.last_used <= limit and entry.path not in needed]
    return remove_entries([*unused, *(path for path in contents.older_formats if is_tagged(path))], dry_run=dry_run)


def check_is_cache(settings: Settings) -> None:
    """Raise `ConflictError` unless the folder is a skillpm cache, empty, or missing."""
    root = cache_root(settings)
    if os.path.islink(settings.cache_dir):
        raise ConflictError(
            f"{settings.cache_dir} is a link, and skillpm removes nothing behind links",
            hint="set SKILLPM_CACHE_DIR to the target of the link",
        )
    # List first, then look for the tag: a cache that is being created is tagged before it has any content.
    names = [entry.name for entry in scan_folder(root) if entry.path != settings.cache_dir or _has_content(entry.path)]
    if names and not any(is_tagged(os.path.join(root, name)) for name in names):
        raise ConflictError(
            f"{root} is not a cache that skillpm made; nothing was removed",
            where=os.path.join(settings.cache_dir, TAG_FILE),
            hint="check SKILLPM_CACHE_DIR; every skillpm cache contains a CACHEDIR.TAG",
        )


def remove_entries(paths: Collection[str], *, dry_run: bool) -> PruneResult:
    """Remove parts of the cache one by one, except those in use. Raises `FileError`."""
    removed, busy, total = [], [], 0
    for path in paths:
        size = disk_usage(path)
        if not dry_run and not _try_remove(path):
            busy.append(path)
            continue
        removed.append(path)
        total += size
    return PruneResult(paths=tuple(removed), size=total, busy=tuple(busy))


def _try_remove(path: str) -> bool:
    """Remove one path, under its lock if it has one; return False if it is in use."""
    with translate_os_errors("remove from the cache", path):
        if not path.endswith((".git", ".lock")):
            remove_tree(path)
            return True
        lock = path if path.endswith(".lock") else f"{path}.lock"
        try:
            with hold_lock(lock, 0, path):
                remove_tree(path)
                # A process waiting for the lock notices that the file is gone and creates a new one (`locks`).
                discard_file(f"{lock}.pid")
                discard_file(lock)
        except BusyError:
            return False
    return True


def _has_content(folder: str) -> bool:
    """Return whether the folder contains anything but a tag file that is being written."""
    return not os.path.isdir(folder) or any(writer_pid(entry.name) == 0 for entry in scan_folder(folder))


def clean(settings: Settings, *, dry_run: bool = False) -> PruneResult:
    """Remove everything, in every format. Raises `ConflictError` for a folder that is not a skillpm cache.

    The result's `paths` are the folders that were emptied.
    """
    check_is_cache(settings)
    own = settings.cache_dir
    parts = sorted({_lock_owner(path) for path in _removable_paths(own, own)}) if is_tagged(own) else []
    emptied = remove_entries(parts, dry_run=dry_run)
    if not dry_run:
        _remove_empty_folders(own, own)
    contents = inspect_cache(settings)
    other_formats = [path for path in (*contents.older_formats, *contents.newer_formats) if is_tagged(path)]
    others = remove_entries(other_formats, dry_run=dry_run)
    paths = (*([own] if emptied.paths else []), *others.paths)
    return PruneResult(paths=paths, size=emptied.size + others.size, busy=emptied.busy)


def _removable_paths(folder: str, cache: str) -> Iterator[str]:
    """Yield the files, links and repositories to remove below a folder of the cache."""
    for entry in scan_folder(folder):
        if _is_preserved(entry.path, cache) or ((writer := writer_pid(entry.name)) and is_process_alive(writer)):
            continue
        if _is_searchable_folder(entry) and os.access(entry.path, os.R_OK | os.W_OK | os.X_OK):
            yield from _removable_paths(entry.path, cache)
        else:
            yield entry.path


def _lock_owner(path: str) -> str:
    """Return the path that a file is removed with: `REPO.git` for its lock, and the lock for its `.pid` file."""
    held = path.removesuffix(".pid") if path.endswith(".lock.pid") else path
    return held.removesuffix(".lock") if held.endswith(".git.lock") else held


def _remove_empty_folders(folder: str, cache: str) -> None:
    """Remove the folders that are empty now; writers create them again."""
    for entry in scan_folder(folder):
        if _is_searchable_folder(entry) and not _is_preserved(entry.path, cache):
            _remove_empty_folders(entry.path, cache)
            if entry.path != os.path.join(cache, BUCKETS["git"]):
                with suppress(OSError):
                    os.rmdir(entry.path)


def _is_preserved(path: str, cache: str) -> bool:
    folder, name = os.path.split(path)
    if folder == cache:
        return name == TAG_FILE
    return folder == os.path.join(cache, BUCKETS["git"]) and GIT_WORK_DIR.fullmatch(name) is not None


def _is_searchable_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether to descend into an entry: not into repositories, which are removed whole, under their lock."""
    return entry.is_dir(follow_symlinks=False) and not entry.name.endswith(".git")
