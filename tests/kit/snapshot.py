"""A whole folder as a value, to be compared before and after, or with a golden text."""

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """What lies at a path: `file`, `dir`, `link` or `other`; its mode; its content or target."""

    kind: str
    mode: int
    content: bytes | str


def snapshot(folder: Path, *, ignore: Collection[str] = ()) -> dict[str, Entry]:
    """Take down everything below a folder by its relative path; links are not followed.

    `ignore` names files, or folders with all that is in them. A folder that is not there is an
    error, or a misspelt one would always be equal to itself.
    """
    return {path: _read_entry(folder / path) for path in _walk(folder, "", ignore)}


def render_tree(folder: Path, *, ignore: Collection[str] = ()) -> str:
    """Draw the tree below a folder, a name a line: `folder/`, `file`, `link -> target`."""
    lines = []
    for path, entry in snapshot(folder, ignore=ignore).items():
        *above, name = path.split("/")
        ending = {"dir": "/", "link": f" -> {entry.content!s}"}.get(entry.kind, "")
        lines.append("  " * len(above) + name + ending + "\n")
    return "".join(lines)


def _walk(folder: Path, prefix: str, ignore: Collection[str]) -> Iterator[str]:
    """Walk a folder in the order of names, each folder before what is in it."""
    for found in sorted(os.scandir(folder), key=lambda found: found.name):
        path = prefix + found.name
        if path in ignore:
            continue
        yield path
        if found.is_dir(follow_symlinks=False):
            yield from _walk(folder / found.name, f"{path}/", ignore)


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
