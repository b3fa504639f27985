"""Contents of the cache: the entries of each bucket, leftovers, sizes, and times of last use.

Read-only, and links are never followed. Entries are recognized by the form of their names; others are ignored.
"""

import os
import re
import stat
from collections.abc import Collection, Iterator
from typing import Literal

from skillpm.cachedir import PUBLISH_LOCK_DIR
from skillpm.core.patterns import lazy_pattern
from skillpm.core.values import Value
from skillpm.errors import SkillpmError
from skillpm.fetchers.git.program.repository_cache import GitCache
from skillpm.files import is_process_alive, read_text
from skillpm.formats.lockfile import read_lockfile
from skillpm.scope.scope import Scope
from skillpm.settings import Settings
from skillpm.store import Proofs, Store

Bucket = Literal["store", "git", "http", "search", "proofs", "answers", "unpacked", "verdicts"]
BUCKETS: dict[Bucket, str] = {
    "store": "store",
    "git": "git",
    "http": "indexes",
    "search": "search",
    "proofs": "proofs",
    "answers": "answers",
    "unpacked": "unpacked",
    "verdicts": "verdicts",
}
STORE_ENTRY_NAME = lazy_pattern(r"[0-9a-f]{62}(-[0-9a-z]{1,16})?", re.ASCII)
HTTP_RESPONSE_NAME = lazy_pattern(r"[0-9a-f]{64}", re.ASCII)
UNPACKED_NAME = lazy_pattern(r"[0-9a-f]{64}(-[0-9a-z]{1,16})?", re.ASCII)
ANSWER_NAME = lazy_pattern(r"[0-9]{4}", re.ASCII)
CATALOG_NAME = lazy_pattern(r"[0-9a-f]{32}(?:\.json|-[0-9a-f]{16}\.sqlite)", re.ASCII)
# Files that a process writes and then renames, or unlinks right after opening; the name contains the process id.
TEMPORARY_NAME = lazy_pattern(r"(?:.+\.(\d+)(?:-\d+)?\.(?:new|tmp)|said-(\d+)-\d+)", re.ASCII)
FORMAT_DIR_NAME = lazy_pattern(r"v(\d{1,9})", re.ASCII)
LOCK_NAME = lazy_pattern(r"[0-9a-f]{32}\.lock", re.ASCII)


class CacheEntry(Value):
    """A file or repository in the cache."""

    bucket: Bucket | None  # None: a lock file, not shown to users
    path: str
    size: int  # bytes
    last_used: float  # seconds since 1970
    is_leftover: bool = False  # of a process that has ended


class CacheContents(Value):
    """The entries of the cache, and its folders of other formats."""

    root: str
    entries: tuple[CacheEntry, ...]
    older_formats: tuple[str, ...] = ()  # paths
    newer_formats: tuple[str, ...] = ()

    def in_bucket(self, bucket: Bucket) -> list[CacheEntry]:
        """Return the entries of a bucket, without leftovers."""
        return [entry for entry in self.entries if entry.bucket == bucket and not entry.is_leftover]

    @property
    def leftovers(self) -> list[CacheEntry]:
        """Files of processes that have ended."""
        return [entry for entry in self.entries if entry.is_leftover]


def cache_root(settings: Settings) -> str:
    """Return the folder that SKILLPM_CACHE_DIR names; it contains one folder for each cache format."""
    return os.path.dirname(settings.cache_dir)


def inspect_cache(settings: Settings) -> CacheContents:
    """List the cache. Unreadable folders are skipped."""
    entries = [
        *_store_entries(settings),
        *_git_entries(settings),
        *_flat_entries(settings, "http", HTTP_RESPONSE_NAME),
        *_flat_entries(settings, "search", CATALOG_NAME),
        *_flat_entries(settings, "proofs", HTTP_RESPONSE_NAME),
        *_flat_entries(settings, "answers", ANSWER_NAME),
        *_flat_entries(settings, "verdicts", HTTP_RESPONSE_NAME),
        *_unpacked_entries(settings),
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
        entries=tuple(entries),
        older_formats=tuple(path for number, path in others if number is not None and number < own),
        newer_formats=tuple(path for number, path in others if number is not None and number > own),
    )


def find_locked_paths(settings: Settings, scopes: Collection[Scope]) -> set[str]:
    """Return the cache paths of everything locked in these scopes; unreadable lockfiles are skipped."""
    store, git = Store(_bucket_dir(settings, "store")), GitCache(_bucket_dir(settings, "git"))
    proofs = Proofs(settings.cache_dir)
    paths: set[str] = set()
    for scope in scopes:
        try:
            text = read_text(scope.lockfile)
            locked = {} if text is None else read_lockfile(text, scope.lockfile).skills
        except SkillpmError:
            continue
        for name, skill in locked.items():
            paths.add(proofs.path(name, skill))
            if skill.digest is not None:
                paths.add(store.path(skill.digest, skill.pin.store_variant()))
            if skill.pin.commit_id:
                paths.add(git.path_for(skill.pin.server_url()))
    return paths


def writer_pid(name: str) -> int:
    """Return the id of the process that writes a temporary file of this name; 0 for other files."""
    match = TEMPORARY_NAME.fullmatch(name)
    return 0 if match is None else int(match[1] or match[2])


def scan_folder(folder: str) -> list[os.DirEntry[str]]:
    """List a folder, sorted by name; empty if it is a link or cannot be read."""
    try:
        if os.path.islink(folder):
            return []
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def disk_usage(path: str) -> int:
    """Return the size in bytes of a file, or of all files in a folder."""
    try:
        state = os.lstat(path)
    except OSError:
        return 0
    if not stat.S_ISDIR(state.st_mode):
        return state.st_size
    return sum(disk_usage(entry.path) for entry in scan_folder(path))


def _store_entries(settings: Settings) -> Iterator[CacheEntry]:
    for folder in scan_folder(_bucket_dir(settings, "store")):
        for entry in scan_folder(folder.path):
            yield from _file_entry("store", entry, STORE_ENTRY_NAME)


def _flat_entries(settings: Settings, bucket: Bucket, name_pattern: "re.Pattern[str]") -> Iterator[CacheEntry]:
    for entry in scan_folder(_bucket_dir(settings, bucket)):
        yield from _file_entry(bucket, entry, name_pattern)


def _unpacked_entries(settings: Settings) -> Iterator[CacheEntry]:
    """Yield the folders of unpacked skills, and what killed processes left in them."""
    for entry in scan_folder(_bucket_dir(settings, "unpacked")):
        if UNPACKED_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            used = _last_used(entry.path)
            yield CacheEntry(bucket="unpacked", path=entry.path, size=disk_usage(entry.path), last_used=used)
            for part in scan_folder(entry.path):
                if (writer := writer_pid(part.name)) and not is_process_alive(writer):
                    size = disk_usage(part.path)
                    yield CacheEntry(bucket="unpacked", path=part.path, size=size, last_used=0, is_leftover=True)


def _lock_entries(settings: Settings) -> Iterator[CacheEntry]:
    """Yield locks without a cached file beside them: of published indexes, and of catalogs that are gone."""
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
