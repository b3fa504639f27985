"""Look at what lies in a skills directory: what is ours and intact, what somebody edited, what is not ours."""

import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Literal

from skillpm.core.digest import Digest, compute_digest, content_hash
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.formats.receipt import InstalledFile, InstalledSkill
from skillpm.installer.stat_cache import StatCache

# A program that runs in a skill leaves these behind; they are nobody's work.
IGNORED_NAMES = frozenset(["__pycache__", ".DS_Store"])
HAS_EXECUTABLE_BITS = os.name == "posix"


class FileChange(Value):
    """One file that is not as it was installed."""

    path: str
    state: Literal["modified", "missing", "extra"]


class InstalledState(Value):
    """What is at a skill's place. `why` says how it is edited, where the changes do not."""

    kind: Literal["absent", "intact", "edited", "foreign"]
    changes: tuple[FileChange, ...] = ()
    digest: Digest | None = None
    reason: str = ""


FOLDER_REPLACED = (FileChange(path=".", state="modified"),)
REPLACED_REASON = "something else lies in its place"


def read_installed_states(
    directory: str, names: Iterable[SkillName], installed: Mapping[SkillName, InstalledSkill], stat_cache: StatCache
) -> dict[SkillName, InstalledState]:
    """Look at each of these skills' places."""
    return {
        name: read_installed_state(os.path.join(directory, name), name, installed.get(name), stat_cache)
        for name in names
    }


def read_installed_state(
    folder: str, name: str, installed: InstalledSkill | None, stat_cache: StatCache
) -> InstalledState:
    """Look at one place, given what was installed there, if anything."""
    try:
        state = os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return InstalledState(kind="absent")
    if installed is None:
        return InstalledState(kind="foreign", digest=digest_folder(folder) if stat.S_ISDIR(state.st_mode) else None)
    if installed.digest is None:
        return InstalledState(kind="intact" if stat.S_ISLNK(state.st_mode) else "edited")
    if not stat.S_ISDIR(state.st_mode):
        return InstalledState(kind="edited", changes=FOLDER_REPLACED, reason=REPLACED_REASON)
    changes = tuple(find_changes(folder, name, installed.files, stat_cache))
    if not changes:
        return InstalledState(kind="intact", digest=installed.digest)
    return InstalledState(kind="edited", changes=changes, digest=digest_folder(folder, installed.files))


def find_changes(
    folder: str, name: str, files: Mapping[str, InstalledFile], stat_cache: StatCache
) -> Iterator[FileChange]:
    """Give every file that is not as it was installed; files the stat cache vouches for are not read."""
    seen = set()
    for path, entry in walk_files(folder, files):
        known = files.get(path)
        if known is None:
            yield FileChange(path=path, state="extra")
            continue
        try:
            is_same = _is_unchanged(entry, name, path, known, stat_cache)
        except FileNotFoundError:  # somebody took it away this very moment
            continue
        seen.add(path)
        if not is_same:
            yield FileChange(path=path, state="modified")
    for path in files:
        if path not in seen:
            yield FileChange(path=path, state="missing")


def walk_files(folder: str, known_paths: Container[str] | None = ()) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Give everything in a folder that is not a folder, by path with `/`; links are not followed. Of rubbish only what
    is `known`, since it came with the skill: everything for None.
    """
    todo: list[tuple[str, os.DirEntry[str] | None]] = [("", None)]
    while todo:
        prefix, inner = todo.pop()
        try:
            with os.scandir(inner or folder) as entries:
                inside = sorted(entries, key=lambda item: item.name)
        except PermissionError:
            if inner is not None:
                yield prefix[:-1], inner  # a folder nobody can look into is a thing of its own
            continue
        except (FileNotFoundError, NotADirectoryError):
            if inner is None:
                raise
            continue  # somebody took it away this very moment
        for entry in inside:
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                todo.append((f"{path}/", entry))
            elif known_paths is None or path in known_paths or IGNORED_NAMES.isdisjoint(path.split("/")):
                yield path, entry


def digest_folder(folder: str, known_paths: Container[str] | None = ()) -> Digest:
    """Give the digest of what lies in a folder, every byte read, of rubbish only what is `known` (`walk_files`). A link
    counts as what it says, not as its target.
    """
    return compute_digest((path, _hash_entry(entry)) for path, entry in walk_files(folder, known_paths))


def _hash_entry(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link:" + os.readlink(entry.path)
    if not entry.is_file(follow_symlinks=False):
        return "special"
    try:
        with open(entry.path, "rb") as file:
            return content_hash(file.read())
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
