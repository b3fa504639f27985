"""`cache clean`: remove everything, file by file; running commands only have to fetch again.

Three things stay: repositories and locks that are in use; files that a living process is writing and about to rename;
and a few hundred bytes of the cache folder itself. These are the tag, without which skillpm would refuse to clean the
folder the next time, and the empty folder in which git is run, with its configuration: a git process that is just
starting would otherwise run in a deleted directory.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from skillpm.cachedir import TAG_FILE, is_tagged
from skillpm.core.patterns import lazy_pattern
from skillpm.files import is_process_alive
from skillpm.operations.cache.contents import BUCKETS, inspect_cache, scan_folder, writer_pid
from skillpm.operations.cache.prune import PruneResult, check_is_cache, remove_entries
from skillpm.settings import Settings

GIT_WORK_DIR = lazy_pattern(r"empty|config-[0-9a-f]{12}", re.ASCII)


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
