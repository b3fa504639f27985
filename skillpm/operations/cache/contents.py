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
from skillpm.files import is_process_alive, read_text
from skillpm.formats.lockfile import read_lockfile
from skillpm.formats.pin import GitPin
from skillpm.operations.context.scope import Scope
from skillpm.settings import Settings
from skillpm.store import Store

Bucket = Literal["store", "git", "http", "search"]
BUCKETS: dict[Bucket, str] = {"store": "store", "git": "git", "http": "indexes", "search": "search"}
STORE_ENTRY_NAME = re.compile(r"[0-9a-f]{62}(-[0-9a-z]{1,16})?", re.ASCII)
HTTP_RESPONSE_NAME = re.compile(r"[0-9a-f]{64}", re.ASCII)
CATALOG_NAME = re.compile(r"[0-9a-f]{32}(?:\.json|-[0-9a-f]{16}\.sqlite)", re.ASCII)
# What a process writes before it renames, or opens and unlinks at once: it names the process.
TEMPORARY_NAME = re.compile(r"(?:.+\.(\d+)(?:-\d+)?\.(?:new|tmp)|said-(\d+)-\d+)", re.ASCII)
FORMAT_DIR_NAME = re.compile(r"v(\d{1,9})", re.ASCII)
LOCK_NAME = re.compile(r"[0-9a-f]{32}\.lock", re.ASCII)
PUBLISH_LOCK_DIR = "publishing"


class CacheEntry(Value):
    """Something in the cache. `used` is when it was last used, in seconds; a leftover is of a process that is dead. A
    lock of somebody who writes an index is in none of the buckets that people are shown.
    """

    bucket: Bucket | None
    path: str
    size: int
    last_used: float
    is_leftover: bool = False


class CacheContents(Value):
    """The cache. `older` and `newer` are folders of other formats."""

    root: str
    entries: tuple[CacheEntry, ...]
    older_formats: tuple[str, ...] = ()
    newer_formats: tuple[str, ...] = ()

    def in_bucket(self, bucket: Bucket) -> list[CacheEntry]:
        """Give what a bucket holds, without what is left over."""
        return [thing for thing in self.entries if thing.bucket == bucket and not thing.is_leftover]

    @property
    def leftovers(self) -> list[CacheEntry]:
        """Give what dead processes left."""
        return [thing for thing in self.entries if thing.is_leftover]


def cache_root(settings: Settings) -> str:
    """Give the folder that SKILLPM_CACHE_DIR names; in it is a folder for each format."""
    return os.path.dirname(settings.cache_dir)


def inspect_cache(settings: Settings) -> CacheContents:
    """Look into the cache. What cannot be read is passed over."""
    things = [
        *_store_entries(settings),
        *_git_entries(settings),
        *_http_entries(settings),
        *_search_entries(settings),
        *_lock_entries(settings),
    ]
    own = _format_number(os.path.basename(settings.cache_dir)) or 0
    others = [
        (number, entry.path)
        for entry in scan_folder(cache_root(settings))
        if (number := _format_number(entry.name)) != own
    ]
    return CacheContents(
        root=cache_root(settings),
        entries=tuple(things),
        older_formats=tuple(path for number, path in others if number is not None and number < own),
        newer_formats=tuple(path for number, path in others if number is not None and number > own),
    )


def find_locked_paths(settings: Settings, scopes: Collection[Scope]) -> set[str]:
    """Give the paths in the cache of what the lockfiles of these scopes name. One that cannot be read names nothing."""
    store, git = Store(_bucket_dir(settings, "store")), GitCache(_bucket_dir(settings, "git"))
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
                paths.add(git.path_for(skill.pin.url))
    return paths


def writer_pid(name: str) -> int:
    """Give the process that writes a file of this name, before it renames it; 0 for any other file."""
    half = TEMPORARY_NAME.fullmatch(name)
    return 0 if half is None else int(half[1] or half[2])


def scan_folder(folder: str) -> list[os.DirEntry[str]]:
    """List a folder by name; nothing where it is none, or a link."""
    try:
        if os.path.islink(folder):
            return []
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def disk_usage(path: str) -> int:
    """Give the bytes of a file, or of all files in a folder."""
    try:
        state = os.lstat(path)
    except OSError:
        return 0
    if not stat.S_ISDIR(state.st_mode):
        return state.st_size
    return sum(disk_usage(entry.path) for entry in scan_folder(path))


def _store_entries(settings: Settings) -> Iterator[CacheEntry]:
    for shelf in scan_folder(_bucket_dir(settings, "store")):
        for entry in scan_folder(shelf.path):
            yield from _file_entry("store", entry, STORE_ENTRY_NAME)


def _http_entries(settings: Settings) -> Iterator[CacheEntry]:
    for entry in scan_folder(_bucket_dir(settings, "http")):
        yield from _file_entry("http", entry, HTTP_RESPONSE_NAME)


def _search_entries(settings: Settings) -> Iterator[CacheEntry]:
    for entry in scan_folder(_bucket_dir(settings, "search")):
        yield from _file_entry("search", entry, CATALOG_NAME)


def _lock_entries(settings: Settings) -> Iterator[CacheEntry]:
    """Give the locks that are nobody's but their own: of folders that indexes are written into, of gone catalogues."""
    for folder in (PUBLISH_LOCK_DIR, BUCKETS["search"]):
        for entry in scan_folder(os.path.join(settings.cache_dir, folder)):
            is_needed = os.path.lexists(f"{entry.path.removesuffix('.lock')}.json")
            if LOCK_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False) and not is_needed:
                yield CacheEntry(
                    bucket=None,
                    path=entry.path,
                    size=0,
                    last_used=max(_last_used(entry.path), _last_used(f"{entry.path}.pid")),
                )


def _git_entries(settings: Settings) -> Iterator[CacheEntry]:
    for entry in scan_folder(_bucket_dir(settings, "git")):
        if entry.name.endswith(".git") and entry.is_dir(follow_symlinks=False):
            used = max(_last_used(entry.path), _last_used(f"{entry.path}.lock.pid"))
            yield CacheEntry(bucket="git", path=entry.path, size=disk_usage(entry.path), last_used=used)
        elif entry.name.endswith(".git.lock") and not os.path.lexists(entry.path.removesuffix(".lock")):
            yield CacheEntry(
                bucket="git", path=entry.path, size=0, last_used=_last_used(f"{entry.path}.pid"), is_leftover=True
            )
        else:
            yield from _file_entry("git", entry, None)


def _file_entry(
    bucket: Bucket, entry: os.DirEntry[str], name_pattern: "re.Pattern[str] | None"
) -> Iterator[CacheEntry]:
    if not entry.is_file(follow_symlinks=False):
        return
    if (writer := writer_pid(entry.name)) and not is_process_alive(writer):
        yield CacheEntry(bucket=bucket, path=entry.path, size=disk_usage(entry.path), last_used=0, is_leftover=True)
    elif name_pattern is not None and name_pattern.fullmatch(entry.name):
        yield CacheEntry(bucket=bucket, path=entry.path, size=disk_usage(entry.path), last_used=_last_used(entry.path))


def _last_used(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _bucket_dir(settings: Settings, bucket: Bucket) -> str:
    return os.path.join(settings.cache_dir, BUCKETS[bucket])


def _format_number(name: str) -> int | None:
    match = FORMAT_DIR_NAME.fullmatch(name)
    return int(match[1]) if match else None
