"""Compare the folders in a skills directory with the receipt: intact, edited by the user, or unmanaged."""

import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, combinations, islice
from typing import Literal

from skillpm.core.digest import Digest, compute_digest, content_hash, stream_hash
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.files import is_below, read_regular_file
from skillpm.formats.receipt import InstalledFile, InstalledSkill
from skillpm.installer.disk.stat_cache import StatCache
from skillpm.skillmd.host_manifests import is_read_by_hosts

# Written by programs that run in a skill, or by the Finder: not the user's work, so they are not edits.
IGNORED_NAMES = frozenset(["__pycache__", ".DS_Store"])
MAX_READ_SIZE = 25_000_000  # larger files, which no skill has by default, are hashed in pieces
MAX_EXCEPTIONS = 1000  # pairs of files that may have other line endings than the rest: a moment of computing
HAS_EXECUTABLE_BITS = os.name == "posix"


class FileChange(Value):
    """One file that differs from what was installed."""

    path: str
    state: Literal["modified", "missing", "extra"]


class InstalledState(Value):
    """What is at a skill's path."""

    # `foreign`: the receipt does not record it.
    kind: Literal["absent", "intact", "edited", "foreign"]
    changes: tuple[FileChange, ...] = ()
    # The digest of what is there; None if it is not a folder.
    digest: Digest | None = None
    # How it was edited, if `changes` do not say it.
    reason: str = ""
    # Whether there is more than the digest says: what programs leave behind, or what links lead to.
    has_more: bool = False


FOLDER_REPLACED = (FileChange(path=".", state="modified"),)
REPLACED_REASON = "replaced by something else"
LINE_ENDINGS_REASON = "differs from the lockfile in line endings only"


def read_installed_states(
    directory: str, names: Iterable[SkillName], installed: Mapping[SkillName, InstalledSkill], stat_cache: StatCache
) -> dict[SkillName, InstalledState]:
    """Return the state of each of these skills."""
    return {
        name: read_installed_state(os.path.join(directory, name), name, installed.get(name), stat_cache)
        for name in names
    }


def read_installed_state(
    folder: str, name: str, installed: InstalledSkill | None, stat_cache: StatCache
) -> InstalledState:
    """Return the state of one folder, given what the receipt records for it."""
    try:
        state = os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return InstalledState(kind="absent")
    more: list[str] = []
    if installed is None:
        digest = digest_folder(folder, more=more) if stat.S_ISDIR(state.st_mode) else None
        return InstalledState(kind="foreign", digest=digest, has_more=bool(more))
    if installed.digest is None:  # a live link
        return InstalledState(kind="intact" if stat.S_ISLNK(state.st_mode) else "edited")
    if not stat.S_ISDIR(state.st_mode):
        return InstalledState(kind="edited", changes=FOLDER_REPLACED, reason=REPLACED_REASON)
    changes = tuple(find_changes(folder, name, installed.files, stat_cache, more))
    if not changes:
        return InstalledState(kind="intact", digest=installed.digest, has_more=bool(more))
    return InstalledState(kind="edited", changes=changes, digest=digest_folder(folder, installed.files))


def find_changes(
    folder: str,
    name: str,
    files: Mapping[str, InstalledFile],
    stat_cache: StatCache,
    leftovers: list[str] | None = None,
) -> Iterator[FileChange]:
    """Yield every file that differs from what was installed; files the stat cache vouches for are not read."""
    seen = set()
    for path, entry in walk_files(folder, files, leftovers):
        installed = files.get(path)
        if installed is None:
            yield FileChange(path=path, state="extra")
            continue
        try:
            is_same = _is_unchanged(entry, name, path, installed, stat_cache)
        except FileNotFoundError:  # removed since it was listed, so it is reported as missing below
            continue
        seen.add(path)
        if not is_same:
            yield FileChange(path=path, state="modified")
    for path in files:
        if path not in seen:
            yield FileChange(path=path, state="missing")


def walk_files(
    folder: str, known_paths: Container[str] | None = (), leftovers: list[str] | None = None
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield everything below a folder except folders, with its `/`-separated relative path. Links are not followed.

    Files that programs leave behind (`IGNORED_NAMES`) are skipped unless their path is in `known_paths`, that is,
    unless they came with the skill, and unless a host would find a skill by them: Amp does, in any folder. With None,
    nothing is skipped. What is skipped is added to `leftovers`. Raises `OSError` if the folder itself cannot be listed.
    """
    pending: list[tuple[str, os.DirEntry[str] | None]] = [("", None)]
    while pending:
        prefix, entry_above = pending.pop()
        try:
            with os.scandir(entry_above or folder) as entries:
                children = sorted(entries, key=lambda item: item.name)
        except PermissionError:
            if entry_above is not None:
                yield (
                    prefix[:-1],
                    entry_above,
                )  # report an unreadable folder as an entry, or its content would go unnoticed
            continue
        except (FileNotFoundError, NotADirectoryError):
            if entry_above is None:
                raise
            continue  # removed since it was listed
        for entry in children:
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                pending.append((f"{path}/", entry))
            elif known_paths is None or path in known_paths or not _is_leftover(path, entry.name):
                yield path, entry
            elif leftovers is not None:
                leftovers.append(path)


def _is_leftover(path: str, name: str) -> bool:
    return not IGNORED_NAMES.isdisjoint(path.split("/")) and not is_read_by_hosts(name)


def walk_reachable_files(folder: str, boundary: str = "") -> Iterator[tuple[str, str]]:
    """Yield the relative path and the place of each file in a folder, with what programs leave behind.

    Links are followed as hosts follow them, each target once, as long as they stay below `boundary`: the repository of
    a project, or by default the folder itself.
    """
    return _walk(folder, boundary or folder, set())


def _walk(folder: str, boundary: str, seen: set[str]) -> Iterator[tuple[str, str]]:
    for path, entry in walk_files(folder, None):
        if not entry.is_symlink():
            yield path, entry.path
            continue
        seen.add(os.path.realpath(folder))
        real = os.path.realpath(entry.path)
        if real in seen or not is_below(real, os.path.realpath(boundary)):
            continue
        seen.add(real)
        if os.path.isdir(real):
            yield from ((f"{path}/{inner}", place) for inner, place in _walk(real, boundary, seen))
        else:
            yield path, entry.path


def digest_folder(
    folder: str, known_files: Mapping[str, InstalledFile] | None = EMPTY_MAPPING, *, more: list[str] | None = None
) -> Digest:
    """Return the digest of a folder's current content; paths in `known_files` are not skipped, as in `walk_files`.

    A link is hashed by its target path, not by the content it points at: its path is added to `more`, and so are those
    of skipped files. A large file is not read if `known_files` show that it was not installed like that: whatever it
    contains, the digest is another one.
    """
    hashes = []
    for path, entry in walk_files(folder, known_files, more):
        if more is not None and entry.is_symlink():
            more.append(path)
        is_outgrown = known_files and _is_outgrown(entry, known_files.get(path))
        hashes.append((path, "outgrown" if is_outgrown else _hash_entry(entry)))
    return compute_digest(hashes)


def differs_in_line_endings(folder: str, digest: Digest | None) -> bool:
    """Return whether a folder has content with this digest, but for line endings, which git converts.

    A file may have been published with CR LF, and the digest does not say which one: all or none are tried, and up to
    two exceptions from that.
    """
    # Path, hash with LF, hash with CR LF
    files: list[tuple[str, str, str]] = []
    try:
        for path, entry in walk_files(folder):
            data = read_regular_file(entry.path, MAX_READ_SIZE) if entry.is_file(follow_symlinks=False) else b""
            if b"\n" in data and b"\0" not in data:
                text = data.replace(b"\r\n", b"\n")
                files.append((path, content_hash(text), content_hash(text.replace(b"\n", b"\r\n"))))
            else:
                hashed = _hash_entry(entry)
                files.append((path, hashed, hashed))
        if digest_folder(folder) == digest:
            return False
    except OSError:
        return False
    texts = [path for path, lf, crlf in files if lf != crlf]
    choices = chain.from_iterable(combinations(texts, count) for count in range(3))
    return any(
        compute_digest((path, lf if has_lf ^ (path in exceptions) else crlf) for path, lf, crlf in files) == digest
        for exceptions in islice(choices, MAX_EXCEPTIONS)
        for has_lf in (True, False)
    )


def _is_outgrown(entry: os.DirEntry[str], known: InstalledFile | None) -> bool:
    try:
        size = entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return False
    return size > MAX_READ_SIZE and (known is None or known.size != size)


def _hash_entry(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link:" + os.readlink(entry.path)
    if not entry.is_file(follow_symlinks=False):
        return "special"
    try:
        size = entry.stat(follow_symlinks=False).st_size
        if size <= MAX_READ_SIZE:
            with open(entry.path, "rb", buffering=0) as file:
                data = file.read(size + 1)  # one system call where `read()` makes four
            if len(data) == size:
                return content_hash(data)
        with open(entry.path, "rb") as file:
            return stream_hash(file)
    except PermissionError:
        return "unreadable"
    except FileNotFoundError:
        return "gone"


def _is_unchanged(
    entry: os.DirEntry[str], name: str, path: str, installed: InstalledFile, stat_cache: StatCache
) -> bool:
    state = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(state.st_mode) or state.st_size != installed.size:
        return False
    if HAS_EXECUTABLE_BITS and bool(state.st_mode & 0o100) != installed.executable:
        return False
    return stat_cache.trusts(name, path, state) or _hash_entry(entry) == installed.sha256
