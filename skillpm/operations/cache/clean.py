"""`cache clean`: everything goes, file by file, and no running command notices but by fetching again.

Three things stay. What a command holds: a repository, or any lock. What a living process writes and is about to
rename. And the place itself, a few hundred bytes: the mark, without which nobody would empty this folder again, and
the folder that git is run in with the configuration written for it, since a git that has just been started would stand
in a folder that is no more.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from skillpm.cachedir import TAG, is_marked
from skillpm.files import is_alive
from skillpm.operations.cache.contents import BUCKETS, Contents, listed, look_into, writer_of
from skillpm.operations.cache.prune import Removed, refuse_foreign, remove
from skillpm.settings import Settings

WORKPLACE = re.compile(r"empty|config-[0-9a-f]{12}", re.ASCII)


def clean(settings: Settings, *, dry_run: bool = False) -> Removed:
    """Take out everything, in every format. Raises `ConflictError` for a folder that is no cache of skillpm's.

    `paths` are the folders that were emptied.
    """
    refuse_foreign(settings)
    own = settings.cache_dir
    parts = sorted({_whole(path) for path in _lying_in(own, own)}) if is_marked(own) else []
    emptied = remove(parts, dry_run=dry_run)
    if not dry_run:
        _fold(own, own)
    others = remove(_other_formats(look_into(settings)), dry_run=dry_run)
    paths = (*([own] if emptied.paths else []), *others.paths)
    return Removed(paths=paths, bytes=emptied.bytes + others.bytes, busy=emptied.busy)


def _lying_in(folder: str, cache: str) -> Iterator[str]:
    """Give what is to go of a folder of the cache: files, links and repositories, whoever came or comes meanwhile."""
    for entry in listed(folder):
        if _stays(entry.path, cache) or ((writer := writer_of(entry.name)) and is_alive(writer)):
            continue
        if _is_folder(entry) and os.access(entry.path, os.R_OK | os.W_OK | os.X_OK):
            yield from _lying_in(entry.path, cache)
        else:
            yield entry.path


def _whole(path: str) -> str:
    """Give what a file goes with: a repository has a lock, and each lock a note of who holds it."""
    held = path.removesuffix(".pid") if path.endswith(".lock.pid") else path
    return held.removesuffix(".lock") if held.endswith(".git.lock") else held


def _fold(folder: str, cache: str) -> None:
    """Remove the folders that are empty now; whoever wants to put something into one makes it again."""
    for entry in listed(folder):
        if _is_folder(entry) and not _stays(entry.path, cache):
            _fold(entry.path, cache)
            if entry.path != os.path.join(cache, BUCKETS["git"]):
                with suppress(OSError):
                    os.rmdir(entry.path)


def _stays(path: str, cache: str) -> bool:
    folder, name = os.path.split(path)
    if folder == cache:
        return name == TAG
    return folder == os.path.join(cache, BUCKETS["git"]) and WORKPLACE.fullmatch(name) is not None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Tell whether to look into a folder; of a repository only whoever holds its lock may."""
    return entry.is_dir(follow_symlinks=False) and not entry.name.endswith(".git")


def _other_formats(contents: Contents) -> list[str]:
    return [path for path in (*contents.older, *contents.newer) if is_marked(path)]
