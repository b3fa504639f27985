"""The files of a skill's folder that an agent could read."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.limits import Limits
from skillpm.core.names import SKILL_FILES
from skillpm.core.patterns import lazy_pattern
from skillpm.files import read_regular_file
from skillpm.installer.disk.disk_state import walk_reachable_files

# What git keeps in a skill that is a repository, as a live link may be: compressed, often large, and nothing to read.
GIT_OBJECT = lazy_pattern(r"\.git/objects/(?:[0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-[0-9a-f]{40,64}\.\w{1,8})")


class FolderFile(NamedTuple):
    """A file of a folder: its path there, and where it is."""

    path: str
    place: str


def list_files(folder: str, boundary: str, limits: Limits) -> tuple[list[FolderFile], str]:
    """Return all files that a host could read, as `walk_reachable_files` does, the smallest first after the SKILL.md.

    The second value is what the folder has more of than skills may have, so that the rest is not in the list.
    """
    found: list[tuple[bool, int, FolderFile]] = []
    paths: list[FolderFile] = []
    total, excess = 0, ""
    with suppress(OSError):
        for path, place in walk_reachable_files(folder, boundary):
            if GIT_OBJECT.fullmatch(path):
                continue
            if len(found) == limits.files:
                excess = f"more than {limits.files:,} files"
                break
            with suppress(OSError):
                found.append((path not in SKILL_FILES, os.stat(place).st_size, FolderFile(path, place)))
    for _, size, file in sorted(found):
        total += size
        if size > limits.file:
            excess = f"a file of more than {limits.file:,} bytes"
        elif total > limits.skill:
            excess = f"more than {limits.skill:,} bytes"
        else:
            paths.append(file)
    return paths, excess


def read_files(files: Sequence[FolderFile]) -> FileTree:
    """Return files as a tree, without those that cannot be read."""
    return FileTree(
        files=tuple(sorted(_read_files(files), key=lambda file: file.path.encode(errors="surrogateescape")))
    )


def _read_files(files: Sequence[FolderFile]) -> Iterator[TreeFile]:
    for path, place in files:
        with suppress(OSError):
            data = read_regular_file(os.path.realpath(place))
            yield TreeFile(path=path.replace(os.sep, "/"), data=data, content_hash=content_hash(data))
