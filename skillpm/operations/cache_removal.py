"""`cache prune|clean`: take out of the cache what nothing needs, or everything, while other commands run.

All of it can be fetched again, so what "nothing needs" means is a matter of time: nobody knows of all the projects on
a machine, and an installed skill is a copy that lives without the cache. What was not used for some days goes, but for
what the lockfiles of this scope and of the user name; what is used is noted
to the day (docs/adr/0018-cache-removal.md).

A store entry is read as a whole or not at all, and whoever finds it gone fetches it; so it needs no lock. A repository
is removed under its lock, and one that is in use stays; so does every lock that somebody holds, or a second one would
come in beside him. Nothing is removed through a link, and nothing at all from a
folder without skillpm's mark.
"""

import errno
import os
import time
from collections.abc import Collection

from skillpm.cachedir import DAY, TAG, is_marked
from skillpm.errors import BusyError, ConflictError
from skillpm.files import discard_file, remove_tree, told
from skillpm.locking import locked
from skillpm.operations.cache_contents import (
    BUCKETS,
    PUBLISHING,
    Contents,
    listed,
    look_into,
    needed_by,
    root_of,
    size_of,
)
from skillpm.operations.scope import Scope
from skillpm.settings import Settings
from skillpm.values import Value


class Removed(Value):
    """What was taken out, or with `--dry-run` would be; `busy` are repositories and locks that are in use, and stay."""

    paths: tuple[str, ...]
    bytes: int
    busy: tuple[str, ...] = ()


def prune(settings: Settings, scopes: Collection[Scope], *, unused_for: float, dry_run: bool = False) -> Removed:
    """Take out what was not used for so many days and no lockfile of these scopes names, and what is left over.

    Raises `ConflictError` for a folder that is no cache of skillpm's.
    """
    refuse_foreign(settings)
    contents = look_into(settings)
    limit = time.time() - unused_for * DAY
    needed = needed_by(settings, scopes)
    unused = [thing.path for thing in contents.things if thing.used <= limit and thing.path not in needed]
    return _remove(unused, [path for path in contents.older if is_marked(path)], dry_run=dry_run)


def clean(settings: Settings, *, dry_run: bool = False) -> Removed:
    """Take out everything, in every format. Raises `ConflictError` for a folder that is no cache of skillpm's."""
    refuse_foreign(settings)
    contents = look_into(settings)
    own = [settings.cache_dir] if is_marked(settings.cache_dir) else []
    folders = [*own, *_other_formats(contents)]
    before = sum(map(size_of, folders))
    if dry_run:
        return Removed(paths=tuple(folders), bytes=before)
    busy = _emptied(settings.cache_dir) if own else ()
    _remove([], folders[len(own) :], dry_run=False)
    _remove_empty(*own, root_of(settings))
    return Removed(paths=tuple(folders), bytes=before - sum(map(size_of, folders)), busy=busy)


def refuse_foreign(settings: Settings) -> None:
    """Raise `ConflictError` where something lies that is not a cache of skillpm's: it may be anything."""
    root = root_of(settings)
    names = [entry.name for entry in listed(root)]
    if os.path.islink(settings.cache_dir):
        raise ConflictError(
            f"{settings.cache_dir} is a link, and skillpm removes nothing behind one",
            hint="set SKILLPM_CACHE_DIR to the folder it leads to",
        )
    has_any = any(is_marked(os.path.join(root, name)) for name in names)
    if names and not has_any:
        raise ConflictError(
            f"{root} is not a cache that skillpm made; nothing was removed",
            where=os.path.join(settings.cache_dir, TAG),
            hint="look at SKILLPM_CACHE_DIR; a cache of skillpm's has that file",
        )


def _other_formats(contents: Contents) -> list[str]:
    return [path for path in (*contents.older, *contents.newer) if is_marked(path)]


def _remove(paths: Collection[str], folders: Collection[str], *, dry_run: bool) -> Removed:
    """Remove things of the cache, and whole folders of other formats."""
    gone, busy, total = [], [], 0
    for path in (*paths, *folders):
        size = size_of(path)
        if not dry_run and not _is_removed(path):
            busy.append(path)
            continue
        gone.append(path)
        total += size
    return Removed(paths=tuple(gone), bytes=total, busy=tuple(busy))


def _is_removed(path: str) -> bool:
    """Remove one thing, under its lock where it has one; tell whether that could be done."""
    with told("remove from the cache", path):
        if not path.endswith((".git", ".lock")):
            remove_tree(path)
            return True
        lock = path if path.endswith(".lock") else f"{path}.lock"
        try:
            with locked(lock, 0, path):
                remove_tree(path)
                # Whoever waits for the lock sees that its file is gone, and takes the next one (filelock).
                discard_file(f"{lock}.pid")
                discard_file(lock)
        except BusyError:
            return False
    return True


def _emptied(folder: str) -> tuple[str, ...]:
    """Remove what is in the cache, the mark last; give the repositories and locks in use: they stay with all around."""
    git, search, locks_only = (os.path.join(folder, name) for name in (BUCKETS["git"], BUCKETS["search"], PUBLISHING))
    names = {entry.name.removesuffix(".pid").removesuffix(".lock") for entry in listed(git)}
    places = [os.path.join(git, name) for name in sorted(names) if name.endswith(".git")]
    inside = [entry for place in (folder, locks_only, search) for entry in listed(place)]
    places += [entry.path for entry in inside if entry.name.endswith(".lock") and entry.is_file(follow_symlinks=False)]
    busy = tuple(place for place in places if not _is_removed(place))
    spared = {folder for place in busy for folder in (place, f"{place}.pid", os.path.dirname(place))}
    for entry in listed(folder):
        if entry.path == locks_only and entry.is_dir(follow_symlinks=False):
            _remove_empty(entry.path)  # a lock that somebody took this very moment is not taken from him
        elif entry.name != TAG and entry.path not in spared:
            _discard(entry.path)
    if not busy:
        with told("empty the cache", folder):
            discard_file(os.path.join(folder, TAG))
    return busy


def _discard(path: str) -> None:
    """Remove a part of the cache, as far as nobody puts something into it at this moment."""
    with told("empty the cache", path):
        try:
            remove_tree(path)
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST}:
                raise


def _remove_empty(*folders: str) -> None:
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError:
            return  # something came meanwhile, or it was never ours alone
