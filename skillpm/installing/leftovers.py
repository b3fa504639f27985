"""Half-written documents: what a killed process leaves beside the document it was writing, `<name>.<pid>.tmp`."""

import os
import re
from collections.abc import Iterable

from skillpm.files import discard_file

LEFTOVER = re.compile(r"(.+)\.(\d+)\.tmp")


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
            if match is not None and match[1] in names and not is_alive(int(match[2])):
                left.append(os.path.join(folder, found))
    return left


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def is_alive(process: int) -> bool:
    """Tell whether a process runs: one of another scope may be writing the same manifest right now."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
