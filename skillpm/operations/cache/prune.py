"""`cache prune`: take out of the cache what nothing needs, while other commands run.

All of it can be fetched again, so what "nothing needs" means is a matter of time: nobody knows of all the projects on
a machine, and an installed skill is a copy that lives without the cache. What was not used for some days goes, but for
what the lockfiles of this scope and of the user name; what is used is noted
to the day (docs/adr/0018-cache-removal.md).

A store entry is read as a whole or not at all, and whoever finds it gone fetches it; so it needs no lock. A repository
is removed under its lock, and one that is in use stays; so does every lock that somebody holds, or a second one would
come in beside him. Nothing is removed through a link, and nothing at all from a
folder without skillpm's mark.
"""

import os
import time
from collections.abc import Collection

from skillpm.cachedir import DAY_SECONDS, TAG_FILE, is_tagged
from skillpm.core.values import Value
from skillpm.errors import BusyError, ConflictError
from skillpm.files import discard_file, remove_tree, translate_os_errors
from skillpm.locks import hold_lock
from skillpm.operations.cache.contents import (
    cache_root,
    disk_usage,
    find_locked_paths,
    inspect_cache,
    scan_folder,
    writer_pid,
)
from skillpm.operations.context.scope import Scope
from skillpm.settings import Settings


class PruneResult(Value):
    """What was taken out, or with `--dry-run` would be; `busy` are repositories and locks that are in use, and stay."""

    paths: tuple[str, ...]
    size: int
    busy: tuple[str, ...] = ()


def prune(settings: Settings, scopes: Collection[Scope], *, unused_for: float, dry_run: bool = False) -> PruneResult:
    """Take out what was not used for so many days and no lockfile of these scopes names, and what is left over.

    Raises `ConflictError` for a folder that is no cache of skillpm's.
    """
    check_is_cache(settings)
    contents = inspect_cache(settings)
    limit = time.time() - unused_for * DAY_SECONDS
    needed = find_locked_paths(settings, scopes)
    unused = [thing.path for thing in contents.entries if thing.last_used <= limit and thing.path not in needed]
    return remove_entries([*unused, *(path for path in contents.older_formats if is_tagged(path))], dry_run=dry_run)


def check_is_cache(settings: Settings) -> None:
    """Raise `ConflictError` where something lies that is not a cache of skillpm's: it may be anything."""
    root = cache_root(settings)
    if os.path.islink(settings.cache_dir):
        raise ConflictError(
            f"{settings.cache_dir} is a link, and skillpm removes nothing behind one",
            hint="set SKILLPM_CACHE_DIR to the folder it leads to",
        )
    # Looked at in this order: a cache that is being made has its mark before anything else lies in it.
    names = [entry.name for entry in scan_folder(root) if entry.path != settings.cache_dir or _has_content(entry.path)]
    if names and not any(is_tagged(os.path.join(root, name)) for name in names):
        raise ConflictError(
            f"{root} is not a cache that skillpm made; nothing was removed",
            where=os.path.join(settings.cache_dir, TAG_FILE),
            hint="look at SKILLPM_CACHE_DIR; a cache of skillpm's has that file",
        )


def remove_entries(paths: Collection[str], *, dry_run: bool) -> PruneResult:
    """Remove parts of the cache, each by itself; what somebody holds stays. Raises `FileError`."""
    gone, busy, total = [], [], 0
    for path in paths:
        size = disk_usage(path)
        if not dry_run and not _try_remove(path):
            busy.append(path)
            continue
        gone.append(path)
        total += size
    return PruneResult(paths=tuple(gone), size=total, busy=tuple(busy))


def _try_remove(path: str) -> bool:
    """Remove one thing, under its lock where it has one; tell whether that could be done."""
    with translate_os_errors("remove from the cache", path):
        if not path.endswith((".git", ".lock")):
            remove_tree(path)
            return True
        lock = path if path.endswith(".lock") else f"{path}.lock"
        try:
            with hold_lock(lock, 0, path):
                remove_tree(path)
                # Whoever waits for the lock sees that its file is gone, and takes the next one (filelock).
                discard_file(f"{lock}.pid")
                discard_file(lock)
        except BusyError:
            return False
    return True


def _has_content(folder: str) -> bool:
    """Tell whether anything lies in the cache's folder, but for a mark that is being written."""
    return not os.path.isdir(folder) or any(writer_pid(entry.name) == 0 for entry in scan_folder(folder))
