"""Snapshots of folders as values, to be compared."""

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """The entry at a path: `file`, `dir`, `link` or `other`; its mode; its content or target."""

    kind: str
    mode: int
    content: bytes | str


def snapshot(folder: Path, *, ignore: Collection[str] = ()) -> dict[str, Entry]:
    """Return everything below a folder by relative path; symlinks are not followed.

    `ignore` lists files, and folders with all their content. A missing folder is an error:
    otherwise a misspelled one would always compare equal.
    """
    return {path: _read_entry(folder / path) for path in _walk(folder, "", ignore)}


def render_tree(folder: Path, *, ignore: Collection[str] = ()) -> str:
    """Render the tree below a folder, one name per line: `folder/`, `file`, `link -> target`."""
    lines = []
    for path, entry in snapshot(folder, ignore=ignore).items():
        *above, name = path.split("/")
        ending = {"dir": "/", "link": f" -> {entry.content!s}"}.get(entry.kind, "")
        lines.append("  " * len(above) + name + ending + "\n")
    return "".join(lines)


def _walk(folder: Path, prefix: str, ignore: Collection[str]) -> Iterator[str]:
    """Yield relative paths in the order of names, each folder before its content."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = prefix + entry.name
        if path in ignore:
            continue
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(folder / entry.name, f"{path}/", ignore)


def _read_entry(path: Path) -> Entry:
    status = path.lstat()
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        return Entry("dir", mode, b"")
    if stat.S_ISLNK(status.st_mode):
        return Entry("link", mode, str(path.readlink()))
    if stat.S_ISREG(status.st_mode):
        return Entry("file", mode, path.read_bytes())
    return Entry("other", mode, b"")
