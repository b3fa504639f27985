"""The differences between two states of a skill's files, as unified diffs."""

import difflib
import os
from collections.abc import Container, Mapping
from typing import Literal, NamedTuple

from skillpm.core.file_tree import FileTree
from skillpm.core.limits import MAX_DIFF_LINES
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.files import translate_os_errors
from skillpm.installer.disk.disk_state import HAS_EXECUTABLE_BITS, MAX_READ_SIZE, walk_files


class DiffFile(NamedTuple):
    """One file of a state of a skill."""

    data: bytes
    is_executable: bool = False
    is_special: bool = False  # a pipe, an unreadable folder or a file over all limits: there is nothing to compare


class FileDiff(Value):
    """The difference of one file; `diff` is a unified diff, empty for binary files and beyond `MAX_DIFF_LINES`."""

    path: str
    change: Literal["added", "removed", "modified"]
    diff: str


class LineBudget:
    """How many lines of modified files may still be compared, of all skills together."""

    def __init__(self) -> None:
        self.left = MAX_DIFF_LINES


def compare_trees(
    before: FileTree | None, after: FileTree | None, budget: LineBudget | None = None
) -> tuple[FileDiff, ...]:
    """Return the files that differ between two trees; None for a skill that is not there."""
    return compare_files(read_tree_files(before), read_tree_files(after), budget)


def read_tree_files(tree: FileTree | None) -> dict[str, DiffFile]:
    """Return the files of a validated tree; none if there is no tree."""
    files = () if tree is None else tree.files
    return {file.path: DiffFile(file.data, is_executable=file.executable) for file in files}


def read_disk_files(folder: str, known_paths: Container[str]) -> dict[str, DiffFile]:
    """Read the files in a folder; caches and other litter only if they came with the skill (`known_paths`)."""
    files: dict[str, DiffFile] = {}
    if not os.path.isdir(folder):
        return files
    for path, entry in walk_files(os.path.realpath(folder), known_paths):
        if entry.is_symlink():
            files[path] = DiffFile(b"-> " + os.fsencode(os.readlink(entry.path)) + b"\n")
        elif entry.is_file() and entry.stat().st_size <= MAX_READ_SIZE:
            with translate_os_errors("read a skill's file", entry.path), open(entry.path, "rb") as file:
                files[path] = DiffFile(file.read(), is_executable=bool(entry.stat().st_mode & 0o100))
        else:
            files[path] = DiffFile(b"", is_special=True)
    return files


def compare_files(
    before: Mapping[str, DiffFile], after: Mapping[str, DiffFile], budget: LineBudget | None = None
) -> tuple[FileDiff, ...]:
    """Return the files that differ, sorted by path; each path must be one of a skill.

    Several calls can share a `budget`, so that a crowd of skills takes no longer than one.
    """
    diffs = []
    budget = budget or LineBudget()
    lines_left = MAX_DIFF_LINES
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if not _is_same(old, new):
            change: Literal["added", "removed", "modified"] = "modified"
            if old is None or new is None:
                change = "added" if old is None else "removed"
            lines = sum(file.data.count(b"\n") for file in (old, new) if file is not None)
            is_modified = change == "modified"
            diff = (
                _unified_diff(path, old, new)
                if lines <= min(lines_left, budget.left if is_modified else lines_left)
                else ""
            )
            lines_left -= lines if diff else 0
            budget.left -= lines if diff and is_modified else 0
            diffs.append(FileDiff(path=path, change=change, diff=diff))
    return tuple(diffs)


def _is_same(old: DiffFile | None, new: DiffFile | None) -> bool:
    if old is None or new is None or new.is_special:
        return False
    return old.data == new.data and (old.is_executable == new.is_executable or not HAS_EXECUTABLE_BITS)


def _unified_diff(path: str, old: DiffFile | None, new: DiffFile | None) -> str:
    if new is not None and new.is_special:
        return ""
    try:
        before, after = ([] if file is None else _split_lines(file.data.decode()) for file in (old, new))
    except UnicodeDecodeError:
        return ""
    shown = sanitize(path, len(path) * 6)  # a newline in a file name must not look like a line of the diff
    names = ("/dev/null" if old is None else f"a/{shown}", "/dev/null" if new is None else f"b/{shown}")
    lines = list(difflib.unified_diff(before, after, *names, lineterm=""))
    if old is not None and new is not None and old.is_executable != new.is_executable and HAS_EXECUTABLE_BITS:
        # As in the output of `git diff`.
        modes = [
            f"{word} mode {'100755' if file.is_executable else '100644'}" for word, file in (("old", old), ("new", new))
        ]
        lines = [f"--- {names[0]}", f"+++ {names[1]}", *modes, *lines[2:]]
    return "\n".join(lines)


def _split_lines(text: str) -> list[str]:
    """Split text as git does: a carriage return is part of its line, and a missing final newline is marked.

    Otherwise a file whose line endings an editor changed would have a diff without visible differences.
    """
    *lines, rest = text.split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines
