"""Merge three states of a skill's files: what was installed, what is there now, and what comes.

As `git merge` does without looking for renames, file by file: what only one side changed is taken from it; what both
changed alike, from either; text that both changed differently is merged by lines.
"""

from collections.abc import Callable, Mapping

from skillpm.core.file_tree import SourceEntry
from skillpm.core.values import Value

# Base, yours, theirs -> the merged text, and whether it has conflict marks; None for binary data.
TextMerger = Callable[[bytes, bytes, bytes], tuple[bytes, bool] | None]
FIRST_BYTES = 8000  # in which git looks for a zero byte to tell binary data from text


class TreeMerge(Value):
    """The merged files, and the paths at which both sides changed the same; there, `entries` has marks or yours."""

    entries: tuple[SourceEntry, ...]
    conflicts: tuple[str, ...] = ()


def merge_trees(
    base: Mapping[str, SourceEntry],
    yours: Mapping[str, SourceEntry],
    theirs: Mapping[str, SourceEntry],
    merge_text: TextMerger,
) -> TreeMerge:
    """Merge three states of files, each by path."""
    entries: dict[str, SourceEntry] = {}
    conflicts = []
    for path in sorted({*base, *yours, *theirs}):
        merged, is_conflict = _merge_entry((base.get(path), yours.get(path), theirs.get(path)), merge_text)
        if merged is not None:
            entries[path] = merged
        if is_conflict:
            conflicts.append(path)
    # A file where the other side has a folder; and a link, whose target may be anything.
    folders = {path[:at] for path in entries for at, letter in enumerate(path) if letter == "/"}
    conflicts += [path for path, entry in entries.items() if path in folders or entry.kind == "link"]
    return TreeMerge(entries=tuple(entries.values()), conflicts=tuple(sorted({*conflicts})))


def _merge_entry(
    states: tuple[SourceEntry | None, SourceEntry | None, SourceEntry | None], merge_text: TextMerger
) -> tuple[SourceEntry | None, bool]:
    """Return the merged file, None for a removed one, and whether both sides changed the same."""
    base, yours, theirs = states
    if yours in (theirs, base):
        return theirs, False
    if theirs == base:
        return yours, False
    if yours is None or theirs is None or yours.kind == "link":
        return yours or theirs, True
    modes = (yours.executable, theirs.executable)
    executable = modes[0] if base is None or modes[1] == base.executable else modes[1]
    data, is_conflict = _merge_data(None if base is None else base.data, yours.data, theirs.data, merge_text)
    is_mode_conflict = base is None and modes[0] != modes[1]
    return yours.replace(data=data, executable=executable), is_conflict or is_mode_conflict


def _merge_data(base: bytes | None, yours: bytes, theirs: bytes, merge_text: TextMerger) -> tuple[bytes, bool]:
    """Return the merged bytes, and whether both sides changed the same; two new files that differ always do."""
    if yours in (theirs, base):
        return theirs, False
    if theirs == base:
        return yours, False
    is_binary = any(b"\0" in data[:FIRST_BYTES] for data in (base or b"", yours, theirs))
    merged = None if is_binary else merge_text(base or b"", yours, theirs)
    return (yours, True) if merged is None else (merged[0], merged[1] or base is None)
