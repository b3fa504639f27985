"""What a killed process leaves: staged folders, trash, and half a document beside the one it was writing,
`<name>.<pid>.tmp`.
"""

import os
import re
from collections.abc import Iterable

from skillpm.files import discard_file, is_alive
from skillpm.installing.layout import Layout

LEFTOVER = re.compile(r"(.+)\.(\d+)\.tmp")


def has_leftovers(layout: Layout) -> bool:
    """Tell whether a command was killed here before its change began or after it was done, or is at work right now."""
    ours = _listed(layout.ours)
    return "staging" in ours or "trash" in ours or any(name.endswith(".tmp") for name in ours)


def sweep(documents: Iterable[str]) -> None:
    """Remove what dead processes left of these documents. Only under the lock that their writers hold."""
    for path in left_of(documents):
        discard_file(path)


def left_of(documents: Iterable[str]) -> list[str]:
    """Give what dead processes left of these documents."""
    wanted: dict[str, set[str]] = {}
    for path in documents:
        folder, name = os.path.split(os.path.realpath(path))
        wanted.setdefault(folder, set()).add(name)
    left = []
    for folder, names in wanted.items():
        for found in _listed(folder):
            match = LEFTOVER.fullmatch(found)
            # A process of another scope may be writing the same manifest right now.
            if match is not None and match[1] in names and _is_over(int(match[2])):
                left.append(os.path.join(folder, found))
    return left


def _is_over(process: int) -> bool:
    """Tell whether whoever wrote a leftover is gone. Our own number was then another's: nothing of ours is half."""
    return process == os.getpid() or not is_alive(process)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
