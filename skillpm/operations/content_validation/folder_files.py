"""The files of a skill's folder that an agent could read."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.names import SKILL_FILES
from skillpm.files import is_below, read_regular_file
from skillpm.installer.disk_state import MAX_READ_SIZE, walk_files
from skillpm.serving.skill_files import MAX_SCANNED_FILES

# Of a folder: more bytes are not read, the smallest files first, so that a large one cannot hide a small one.
MAX_SIZE = 50_000_000


def list_files(folder: str) -> list[str]:
    """Return the paths of all files that an agent could read, the smallest first after the SKILL.md."""
    found: list[tuple[bool, int, str]] = []
    with suppress(OSError):
        for path, entry in islice(walk_files(folder), MAX_SCANNED_FILES):
            with suppress(OSError):
                found.append((path not in SKILL_FILES, entry.stat().st_size, entry.path))
    total, paths = 0, []
    for _, size, path in sorted(found):
        total += min(size, MAX_READ_SIZE)
        if total <= MAX_SIZE:
            paths.append(path)
    return paths


def read_files(folder: str, paths: Sequence[str]) -> FileTree:
    """Return these files of a folder as a tree, without those that cannot be read and links to outside."""
    return FileTree(
        files=tuple(sorted(_read_files(folder, paths), key=lambda file: file.path.encode(errors="surrogateescape")))
    )


def _read_files(folder: str, paths: Sequence[str]) -> Iterator[TreeFile]:
    for path in paths:
        real = os.path.realpath(path)
        if not is_below(real, folder) and len(paths) > 1:
            continue  # a link to outside, which is never served
        with suppress(OSError):
            data = read_regular_file(real)
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            yield TreeFile(path=relative, data=data, content_hash=content_hash(data))
