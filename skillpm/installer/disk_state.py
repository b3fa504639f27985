"""Look at what lies in a skills directory: what is ours and intact, what somebody edited, what is not ours."""

import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Literal

from skillpm.core.digest import Digest, content_hash, digest_of
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.formats.receipt import InstalledFile, InstalledSkill
from skillpm.installer.stat_cache import Scan

# A program that runs in a skill leaves these behind; they are nobody's work.
RUBBISH = frozenset(["__pycache__", ".DS_Store"])
HAS_MODES = os.name == "posix"


class FileChange(Value):
    """One file that is not as it was installed."""

    path: str
    state: Literal["modified", "missing", "extra"]


class OnDisk(Value):
    """What is at a skill's place. `why` says how it is edited, where the changes do not."""

    kind: Literal["absent", "intact", "edited", "foreign"]
    changes: tuple[FileChange, ...] = ()
    digest: Digest | None = None
    why: str = ""


REPLACED = (FileChange(path=".", state="modified"),)
OTHER_THING = "something else lies in its place"


def survey(
    directory: str, names: Iterable[SkillName], ours: Mapping[SkillName, InstalledSkill], scan: Scan
) -> dict[SkillName, OnDisk]:
    """Look at each of these skills' places."""
    return {name: look_at(os.path.join(directory, name), name, ours.get(name), scan) for name in names}


def look_at(folder: str, name: str, installed: InstalledSkill | None, scan: Scan) -> OnDisk:
    """Look at one place, given what was installed there, if anything."""
    try:
        state = os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return OnDisk(kind="absent")
    if installed is None:
        return OnDisk(kind="foreign", digest=digest_of_folder(folder) if stat.S_ISDIR(state.st_mode) else None)
    if installed.digest is None:
        return OnDisk(kind="intact" if stat.S_ISLNK(state.st_mode) else "edited")
    if not stat.S_ISDIR(state.st_mode):
        return OnDisk(kind="edited", changes=REPLACED, why=OTHER_THING)
    changes = tuple(compare(folder, name, installed.files, scan))
    if not changes:
        return OnDisk(kind="intact", digest=installed.digest)
    return OnDisk(kind="edited", changes=changes, digest=digest_of_folder(folder, installed.files))


def compare(folder: str, name: str, files: Mapping[str, InstalledFile], scan: Scan) -> Iterator[FileChange]:
    """Give every file that is not as it was installed; files the stat cache vouches for are not read."""
    seen = set()
    for path, entry in walk_files(folder, files):
        known = files.get(path)
        if known is None:
            yield FileChange(path=path, state="extra")
            continue
        try:
            is_same = _is_same(entry, name, path, known, scan)
        except FileNotFoundError:  # somebody took it away this very moment
            continue
        seen.add(path)
        if not is_same:
            yield FileChange(path=path, state="modified")
    for path in files:
        if path not in seen:
            yield FileChange(path=path, state="missing")


def walk_files(folder: str, known: Container[str] | None = ()) -> Iterator[tuple[str, os.DirEntry[str]]]:
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
            elif known is None or path in known or RUBBISH.isdisjoint(path.split("/")):
                yield path, entry


def digest_of_folder(folder: str, known: Container[str] | None = ()) -> Digest:
    """Give the digest of what lies in a folder, every byte read, of rubbish only what is `known` (`walk_files`). A link
    counts as what it says, not as its target.
    """
    return digest_of((path, _hash(entry)) for path, entry in walk_files(folder, known))


def _hash(entry: os.DirEntry[str]) -> str:
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


def _is_same(entry: os.DirEntry[str], name: str, path: str, known: InstalledFile, scan: Scan) -> bool:
    state = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(state.st_mode) or state.st_size != known.size:
        return False
    if HAS_MODES and bool(state.st_mode & 0o100) != known.executable:
        return False
    return scan.trusts(name, path, state) or _hash(entry) == known.sha256
