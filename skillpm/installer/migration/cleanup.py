"""Flat files that became skills: staged as folders, and cleared away when everything else of the change is done."""

import os
import stat
from collections.abc import Callable, Mapping

from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.text import sanitize
from skillpm.files import NOFOLLOW, translate_os_errors, write_new_file
from skillpm.formats.plain_markdown import BOM
from skillpm.installer.layout import Layout
from skillpm.installer.rename import move_path
from skillpm.installer.stat_cache import FileStat, to_file_stat

OWNER_READ_WRITE = 0o600
MODE_MASK = 0o755  # what a file of ours may allow at most: nothing setuid, nothing that others may write


def stage_flat_file(layout: Layout, name: SkillName, data: bytes, mode: int) -> dict[str, FileStat]:
    """Write a skill made of a flat file into staging. Who may read it, may still.

    Nothing may rely on it before it has settled (`Settling`).
    """
    place = os.path.join(layout.staging, name)
    with translate_os_errors(f"write skill {name}", place):
        os.mkdir(place, 0o755)
        state = write_new_file(os.path.join(place, SKILL_FILE), data, (mode & MODE_MASK) | OWNER_READ_WRITE)
        return {SKILL_FILE: to_file_stat(state)}


def remove_migrated_files(layout: Layout, flat_files: Mapping[SkillName, str], warn: Callable[[str], None]) -> None:
    """Remove flat files that became skills, and category folders that are empty then.

    One whose bytes are not all in its skill (it was edited meanwhile) stays, and so does one that cannot be removed:
    a copy too many hurts nobody.
    """
    for name, path in flat_files.items():
        place = os.path.join(layout.directory, *path.split("/"))
        try:
            # It is looked at when it has left its place: there, somebody may save it behind the look.
            away = os.path.join(layout.trash, f".{name}.flat")
            if not os.path.lexists(away):
                if not _is_regular_file(layout, place):
                    continue
                move_path(place, away)
            if not _is_contained(away, os.path.join(layout.skill_path(name), SKILL_FILE)):
                move_path(away, place)
                warn(f"{sanitize(path)} is not what became {name}; it is left as it is")
        except OSError as error:
            warn(f"{sanitize(path)} became {name} but cannot be removed: {error.strerror}")
    for folder in sorted({path.partition("/")[0] for path in flat_files.values() if "/" in path}):
        try:
            os.rmdir(os.path.join(layout.directory, folder))
        except OSError:
            continue  # it holds other things, and stays


def _is_regular_file(layout: Layout, path: str) -> bool:
    """Tell whether a regular file is there, in the directory itself or in a folder that is no link."""
    folder = os.path.dirname(path)
    try:
        above = folder == layout.directory or stat.S_ISDIR(os.lstat(folder).st_mode)
        return above and stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _is_contained(flat: str, skill: str) -> bool:
    """Tell whether a skill ends with all that a flat file holds. What cannot be read holds nothing, and is not held."""
    try:
        return _read_bytes(skill).endswith(_read_bytes(flat).removeprefix(BOM))
    except OSError:
        return False


def _read_bytes(path: str) -> bytes:
    with open(os.open(path, os.O_RDONLY | NOFOLLOW | getattr(os, "O_BINARY", 0)), "rb") as file:
        return file.read()
