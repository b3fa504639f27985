"""What lies in the cache: its buckets, what each holds, what is left over, and when each thing was last used.

Only looked at here, and never through a link. What a name means is told by its form; a thing of another form is
nobody's business but its maker's, and is left alone.
"""

import os
import re
import stat
from collections.abc import Collection, Iterator
from typing import Literal

from skillpm.core.values import Value
from skillpm.errors import SkillpmError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.git.repository_cache import GitCache
from skillpm.files import is_alive, read_text
from skillpm.formats.lockfile import read_lockfile
from skillpm.formats.pin import GitPin
from skillpm.operations.context.scope import Scope
from skillpm.settings import Settings
from skillpm.store import Store

Bucket = Literal["store", "git", "http", "search"]
BUCKETS: dict[Bucket, str] = {"store": "store", "git": "git", "http": "indexes", "search": "search"}
ENTRY = re.compile(r"[0-9a-f]{62}(-[0-9a-z]{1,16})?", re.ASCII)
ANSWER = re.compile(r"[0-9a-f]{64}", re.ASCII)
CATALOGUE = re.compile(r"[0-9a-f]{32}(?:\.json|-[0-9a-f]{16}\.sqlite)", re.ASCII)
# What a process writes before it renames, or opens and unlinks at once: it names the process.
HALF = re.compile(r"(?:.+\.(\d+)(?:-\d+)?\.(?:new|tmp)|said-(\d+)-\d+)", re.ASCII)
FORMAT = re.compile(r"v(\d{1,9})", re.ASCII)
LOCK = re.compile(r"[0-9a-f]{32}\.lock", re.ASCII)
PUBLISHING = "publishing"


class Thing(Value):
    """Something in the cache. `used` is when it was last used, in seconds; a leftover is of a process that is dead. A
    lock of somebody who writes an index is in none of the buckets that people are shown.
    """

    bucket: Bucket | None
    path: str
    bytes: int
    used: float
    is_leftover: bool = False


class Contents(Value):
    """The cache. `older` and `newer` are folders of other formats."""

    root: str
    things: tuple[Thing, ...]
    older: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()

    def of(self, bucket: Bucket) -> list[Thing]:
        """Give what a bucket holds, without what is left over."""
        return [thing for thing in self.things if thing.bucket == bucket and not thing.is_leftover]

    @property
    def leftovers(self) -> list[Thing]:
        """Give what dead processes left."""
        return [thing for thing in self.things if thing.is_leftover]


def root_of(settings: Settings) -> str:
    """Give the folder that SKILLPM_CACHE_DIR names; in it is a folder for each format."""
    return os.path.dirname(settings.cache_dir)


def look_into(settings: Settings) -> Contents:
    """Look into the cache. What cannot be read is passed over."""
    things = [*_store(settings), *_git(settings), *_answers(settings), *_catalogues(settings), *_locks(settings)]
    own = _number(os.path.basename(settings.cache_dir)) or 0
    others = [(number, entry.path) for entry in listed(root_of(settings)) if (number := _number(entry.name)) != own]
    return Contents(
        root=root_of(settings),
        things=tuple(things),
        older=tuple(path for number, path in others if number is not None and number < own),
        newer=tuple(path for number, path in others if number is not None and number > own),
    )


def needed_by(settings: Settings, scopes: Collection[Scope]) -> set[str]:
    """Give the paths in the cache of what the lockfiles of these scopes name. One that cannot be read names nothing."""
    store, git = Store(_bucket(settings, "store")), GitCache(_bucket(settings, "git"))
    paths: set[str] = set()
    for scope in scopes:
        try:
            text = read_text(scope.lockfile)
            locked = {} if text is None else read_lockfile(text, scope.lockfile).skills
        except SkillpmError:
            continue
        for skill in locked.values():
            if skill.digest is not None:
                paths.add(store.path(skill.digest, variant_of(skill.pin)))
            if isinstance(skill.pin, GitPin):
                paths.add(git.path(skill.pin.url))
    return paths


def writer_of(name: str) -> int:
    """Give the process that writes a file of this name, before it renames it; 0 for any other file."""
    half = HALF.fullmatch(name)
    return 0 if half is None else int(half[1] or half[2])


def listed(folder: str) -> list[os.DirEntry[str]]:
    """List a folder by name; nothing where it is none, or a link."""
    try:
        if os.path.islink(folder):
            return []
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def size_of(path: str) -> int:
    """Give the bytes of a file, or of all files in a folder."""
    try:
        state = os.lstat(path)
    except OSError:
        return 0
    if not stat.S_ISDIR(state.st_mode):
        return state.st_size
    return sum(size_of(entry.path) for entry in listed(path))


def _store(settings: Settings) -> Iterator[Thing]:
    for shelf in listed(_bucket(settings, "store")):
        for entry in listed(shelf.path):
            yield from _file("store", entry, ENTRY)


def _answers(settings: Settings) -> Iterator[Thing]:
    for entry in listed(_bucket(settings, "http")):
        yield from _file("http", entry, ANSWER)


def _catalogues(settings: Settings) -> Iterator[Thing]:
    for entry in listed(_bucket(settings, "search")):
        yield from _file("search", entry, CATALOGUE)


def _locks(settings: Settings) -> Iterator[Thing]:
    """Give the locks that are nobody's but their own: of folders that indexes are written into, of gone catalogues."""
    for folder in (PUBLISHING, BUCKETS["search"]):
        for entry in listed(os.path.join(settings.cache_dir, folder)):
            is_needed = os.path.lexists(f"{entry.path.removesuffix('.lock')}.json")
            if LOCK.fullmatch(entry.name) and entry.is_file(follow_symlinks=False) and not is_needed:
                yield Thing(
                    bucket=None, path=entry.path, bytes=0, used=max(_used(entry.path), _used(f"{entry.path}.pid"))
                )


def _git(settings: Settings) -> Iterator[Thing]:
    for entry in listed(_bucket(settings, "git")):
        if entry.name.endswith(".git") and entry.is_dir(follow_symlinks=False):
            used = max(_used(entry.path), _used(f"{entry.path}.lock.pid"))
            yield Thing(bucket="git", path=entry.path, bytes=size_of(entry.path), used=used)
        elif entry.name.endswith(".git.lock") and not os.path.lexists(entry.path.removesuffix(".lock")):
            yield Thing(bucket="git", path=entry.path, bytes=0, used=_used(f"{entry.path}.pid"), is_leftover=True)
        else:
            yield from _file("git", entry, None)


def _file(bucket: Bucket, entry: os.DirEntry[str], form: "re.Pattern[str] | None") -> Iterator[Thing]:
    if not entry.is_file(follow_symlinks=False):
        return
    if (writer := writer_of(entry.name)) and not is_alive(writer):
        yield Thing(bucket=bucket, path=entry.path, bytes=size_of(entry.path), used=0, is_leftover=True)
    elif form is not None and form.fullmatch(entry.name):
        yield Thing(bucket=bucket, path=entry.path, bytes=size_of(entry.path), used=_used(entry.path))


def _used(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _bucket(settings: Settings, bucket: Bucket) -> str:
    return os.path.join(settings.cache_dir, BUCKETS[bucket])


def _number(name: str) -> int | None:
    match = FORMAT.fullmatch(name)
    return int(match[1]) if match else None
