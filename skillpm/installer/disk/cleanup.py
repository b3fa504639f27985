"""Delete the flat files that became skills, at the end of the change."""

import os
import stat
from collections.abc import Callable, Mapping

from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.text import sanitize
from skillpm.directories import remove_folder
from skillpm.files import NOFOLLOW
from skillpm.formats.plain_markdown import BOM
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.rename import move_path


def remove_migrated_files(layout: Layout, flat_files: Mapping[SkillName, str], warn: Callable[[str], None]) -> None:
    """Delete the flat files that became skills, and folders above them that are empty afterwards.

    A file is kept if its skill does not contain all its bytes (it was edited meanwhile) or if it cannot be deleted: a
    surplus copy does no harm, a lost one does.
    """
    for name, path in flat_files.items():
        original_path = os.path.join(layout.directory, *path.split("/"))
        try:
            # Compare only after moving it away: in place, an editor could save it right after the comparison.
            moved_path = os.path.join(layout.trash, f".{name}.flat")
            if not os.path.lexists(moved_path):
                if not _is_regular_file(layout, original_path):
                    continue
                move_path(original_path, moved_path)
            if not _is_contained(moved_path, os.path.join(layout.skill_path(name), SKILL_FILE)):
                move_path(moved_path, original_path)
                warn(f"{sanitize(path)} has changed since it was converted to {name}; left as it is")
        except OSError as error:
            warn(f"{sanitize(path)} became {name} but cannot be deleted: {error.strerror}")
    folders = {path[:end] for path in flat_files.values() for end, mark in enumerate(path) if mark == "/"}
    for folder in sorted(folders, reverse=True):
        try:
            remove_folder(os.path.join(layout.directory, folder))
        except OSError:
            continue  # not empty


def _is_regular_file(layout: Layout, path: str) -> bool:
    """Return whether a path is a regular file and no folder above it, in the skills directory, is a link."""
    folder = os.path.dirname(path)
    try:
        while folder != layout.directory:
            if not stat.S_ISDIR(os.lstat(folder).st_mode):
                return False
            folder = os.path.dirname(folder)
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _is_contained(flat: str, skill: str) -> bool:
    """Return whether a skill file ends with the whole content of a flat file; False if one is unreadable."""
    try:
        return _read_bytes(skill).endswith(_read_bytes(flat).removeprefix(BOM))
    except OSError:
        return False


def _read_bytes(path: str) -> bytes:
    with open(os.open(path, os.O_RDONLY | NOFOLLOW | getattr(os, "O_BINARY", 0)), "rb") as file:
        return file.read()
