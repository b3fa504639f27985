"""Clean up after killed processes: staged folders, trash, and temporary files of half-written documents.

A document is written to `<name>.<pid>.tmp` beside it and then renamed.
"""

import errno
import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from skillpm.core.names import COPIES
from skillpm.core.patterns import lazy_pattern
from skillpm.directories import make_folders, rename
from skillpm.files import OS_ERROR_REASONS, discard_file, is_process_alive, remove_tree
from skillpm.installer.disk.layout import Layout

STAGED_COPIES = ".new"
TEMPORARY_FILE = lazy_pattern(r"(.+)\.(\d+)\.tmp")


def has_leftovers(layout: Layout, base: str) -> bool:
    """Return whether the internal folder, or the copies beside a lockfile in `base`, have something to clean up.

    That is also true while another command is running, and if something could not be deleted.
    """
    names = _list_names(layout.internal_dir)
    if not {"staging", "trash", "left"}.isdisjoint(names) or any(name.endswith(".tmp") for name in names):
        return True
    return has_staged_copies(base)


def has_staged_copies(base: str) -> bool:
    """Return whether copies of bundled skills are staged, or an empty folder is left of them."""
    try:
        names = os.listdir(os.path.join(base, COPIES))
    except OSError:
        return False
    return not names or STAGED_COPIES in names


def remove_leftovers(layout: Layout, warn: Callable[[str], None]) -> None:
    """Empty staging and trash, and retry what could not be deleted before.

    The caller holds the lock and has finished any pending change. Raises `OSError`.
    """
    with suppress(OSError):
        remove_tree(layout.undeletable)
    for place in (layout.staging, layout.trash):
        discard_tree(layout, place, warn)


def discard_tree(layout: Layout, path: str, warn: Callable[[str], None]) -> None:
    """Delete a folder of ours; if some of its files belong to another user, move it to `Layout.undeletable` and warn.

    A container that runs as root leaves such files, for example a `__pycache__` in a skill. They must neither make
    every later command fail nor be reported as the user's edits. Raises `OSError` if the folder cannot be moved either.
    """
    try:
        remove_tree(path)
    except OSError as error:
        # Deleting a file needs permission on its folder, moving the whole tree only on the parent, which is ours.
        if error.errno not in {errno.EACCES, errno.EPERM}:
            raise
        make_folders(layout.undeletable)
        number = 1
        while os.path.lexists(place := os.path.join(layout.undeletable, str(number))):
            number += 1
        try:
            rename(path, place)
        except OSError:
            raise error from None
        reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or str(error))
        warn(f"cannot delete files that a skill left behind: {reason}; delete them as their owner: {place}")


def remove_temporary_files(documents: Iterable[str]) -> None:
    """Remove the temporary files that dead processes left of these documents. The caller holds their lock."""
    for path in find_temporary_files(documents):
        discard_file(path)


def find_temporary_files(documents: Iterable[str]) -> list[str]:
    """Return the temporary files that dead processes left of these documents."""
    names_by_folder: dict[str, set[str]] = {}
    for path in documents:
        folder, name = os.path.split(os.path.realpath(path))
        names_by_folder.setdefault(folder, set()).add(name)
    leftovers = []
    for folder, names in names_by_folder.items():
        for entry in _list_names(folder):
            match = TEMPORARY_FILE.fullmatch(entry)
            # Locks are per scope, and a process of another scope may be writing the same manifest right now.
            if match is not None and match[1] in names and _is_writer_gone(int(match[2])):
                leftovers.append(os.path.join(folder, entry))
    return leftovers


def _is_writer_gone(process: int) -> bool:
    """Return whether the process that wrote a temporary file has ended.

    A file with our own process ID comes from an earlier process with the same ID: we hold the lock and write nothing
    yet.
    """
    return process == os.getpid() or not is_process_alive(process)


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
