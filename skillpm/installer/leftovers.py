"""What a killed process leaves: staged folders, trash, and half a document beside the one it was writing,
`<name>.<pid>.tmp`.
"""

import errno
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from skillpm.files import OS_ERROR_REASONS, discard_file, is_process_alive, remove_tree
from skillpm.installer.layout import Layout

TEMPORARY_FILE = re.compile(r"(.+)\.(\d+)\.tmp")


def has_leftovers(layout: Layout) -> bool:
    """Tell whether a command was killed here before its change began or after it was done, or is at work right now; or
    could not remove something.
    """
    ours = _list_names(layout.internal_dir)
    return not {"staging", "trash", "left"}.isdisjoint(ours) or any(name.endswith(".tmp") for name in ours)


def remove_leftovers(layout: Layout, warn: Callable[[str], None]) -> None:
    """Remove what is staged and what is in the trash, and try again what could not be removed before. Only under the
    lock. Raises `OSError`.
    """
    with suppress(OSError):
        remove_tree(layout.undeletable)
    for place in (layout.staging, layout.trash):
        discard_tree(layout, place, warn)


def discard_tree(layout: Layout, path: str, warn: Callable[[str], None]) -> None:
    """Remove a folder of ours; what of it belongs to somebody else (a container that ran as root leaves `__pycache__`
    in a skill) goes where it is in nobody's way, and is told. Raises `OSError` where that cannot be either.
    """
    try:
        remove_tree(path)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EPERM}:
            raise
        os.makedirs(layout.undeletable, exist_ok=True)
        number = 1
        while os.path.lexists(place := os.path.join(layout.undeletable, str(number))):
            number += 1
        try:
            os.rename(path, place)
        except OSError:
            raise error from None
        reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or str(error))
        warn(f"what a skill left behind cannot be removed: {reason}; remove it as its owner: {place}")


def remove_temporary_files(documents: Iterable[str]) -> None:
    """Remove what dead processes left of these documents. Only under the lock that their writers hold."""
    for path in find_temporary_files(documents):
        discard_file(path)


def find_temporary_files(documents: Iterable[str]) -> list[str]:
    """Give what dead processes left of these documents."""
    wanted: dict[str, set[str]] = {}
    for path in documents:
        folder, name = os.path.split(os.path.realpath(path))
        wanted.setdefault(folder, set()).add(name)
    left = []
    for folder, names in wanted.items():
        for found in _list_names(folder):
            match = TEMPORARY_FILE.fullmatch(found)
            # A process of another scope may be writing the same manifest right now.
            if match is not None and match[1] in names and _is_writer_gone(int(match[2])):
                left.append(os.path.join(folder, found))
    return left


def _is_writer_gone(process: int) -> bool:
    """Tell whether whoever wrote a leftover is gone. Our own number was then another's: nothing of ours is half."""
    return process == os.getpid() or not is_process_alive(process)


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
