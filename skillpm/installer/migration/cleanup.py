"""Flat files that became skills: staged as folders, and cleared away when everything else of the change is done."""

import os
import stat
from collections.abc import Callable, Mapping

from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.text import show
from skillpm.files import NOFOLLOW, told, write_new
from skillpm.formats.plain_markdown import BOM
from skillpm.installer.layout import Layout
from skillpm.installer.rename import shift
from skillpm.installer.stat_cache import Stamp, stamp_of

READABLE = 0o600
SENSIBLE = 0o755  # what a file of ours may allow at most: nothing setuid, nothing that others may write


def stage_flat(layout: Layout, name: SkillName, data: bytes, mode: int) -> dict[str, Stamp]:
    """Write a skill made of a flat file into staging. Who may read it, may still.

    Nothing may rely on it before it has settled (`Settling`).
    """
    place = os.path.join(layout.staging, name)
    with told(f"write skill {name}", place):
        os.mkdir(place, 0o755)
        state = write_new(os.path.join(place, SKILL_FILE), data, (mode & SENSIBLE) | READABLE)
        return {SKILL_FILE: stamp_of(state)}


def clear_away(layout: Layout, flat: Mapping[SkillName, str], warn: Callable[[str], None]) -> None:
    """Remove flat files that became skills, and category folders that are empty then.

    One whose bytes are not all in its skill (it was edited meanwhile) stays, and so does one that cannot be removed:
    a copy too many hurts nobody.
    """
    for name, path in flat.items():
        place = os.path.join(layout.directory, *path.split("/"))
        try:
            # It is looked at when it has left its place: there, somebody may save it behind the look.
            away = os.path.join(layout.trash, f".{name}.flat")
            if not os.path.lexists(away):
                if not _is_ordinary(layout, place):
                    continue
                shift(place, away)
            if not _is_held(away, os.path.join(layout.skill(name), SKILL_FILE)):
                shift(away, place)
                warn(f"{show(path)} is not what became {name}; it is left as it is")
        except OSError as error:
            warn(f"{show(path)} became {name} but cannot be removed: {error.strerror}")
    for folder in sorted({path.partition("/")[0] for path in flat.values() if "/" in path}):
        try:
            os.rmdir(os.path.join(layout.directory, folder))
        except OSError:
            continue  # it holds other things, and stays


def _is_ordinary(layout: Layout, place: str) -> bool:
    """Tell whether a regular file is there, in the directory itself or in a folder that is no link."""
    folder = os.path.dirname(place)
    try:
        above = folder == layout.directory or stat.S_ISDIR(os.lstat(folder).st_mode)
        return above and stat.S_ISREG(os.lstat(place).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _is_held(flat: str, skill: str) -> bool:
    """Tell whether a skill ends with all that a flat file holds. What cannot be read holds nothing, and is not held."""
    try:
        return _bytes(skill).endswith(_bytes(flat).removeprefix(BOM))
    except OSError:
        return False


def _bytes(path: str) -> bytes:
    with open(os.open(path, os.O_RDONLY | NOFOLLOW | getattr(os, "O_BINARY", 0)), "rb") as file:
        return file.read()
