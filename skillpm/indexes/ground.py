"""The folder of an index as it lies on the disk: what may be written through, and what may be swept away.

It may have come from a repository or a drop box: a link in it would lead writing and sweeping into somebody else's
folder, and files that no index makes are somebody's own.
"""

import os
import stat
from collections.abc import Collection

from skillpm.documents.discovery_site import PATH
from skillpm.documents.names import is_skill_name
from skillpm.documents.versions import is_version
from skillpm.errors import RefusedError
from skillpm.files import HALF, is_alive, told

CATALOGUE = "index.json"
PAGE = "catalog.html"
FOLDERS = ("archives", "skills", ".well-known", ".well-known/agent-skills")


def check_ground(folder: str) -> None:
    """Refuse an index whose own folders lead elsewhere, or are no folders."""
    for inside in FOLDERS:
        path = os.path.join(folder, inside)
        with told("look at an index", path):
            try:
                mode = os.lstat(path).st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
        if not stat.S_ISDIR(mode):
            what = "a link" if stat.S_ISLNK(mode) else "no folder"
            raise RefusedError(
                f"`{inside}` of an index must be a folder, and is {what}",
                where=path,
                hint="put a real folder in its place; nothing was written",
            )


def unneeded(folder: str, named: Collection[str]) -> list[str]:
    """Give the files that a killed build left: archives that are not `named`, and halves of what it was writing."""
    found = []
    for inside in ("", *FOLDERS):
        with told("look at an index", os.path.join(folder, inside)):
            try:
                names = os.listdir(os.path.join(folder, inside))
            except FileNotFoundError:
                continue
            for name in names:
                path = f"{inside}/{name}" if inside else name
                is_left = (_is_archive(path) and path not in named) or _is_half(path)
                if is_left and stat.S_ISREG(os.lstat(os.path.join(folder, path)).st_mode):
                    found.append(path)
    return sorted(found)


def _is_archive(path: str) -> bool:
    """Tell whether an index gives this path to an archive: `archives/NAME-VERSION.tar.gz`."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".tar.gz")
    if folder != "archives" or stem == name:
        return False
    dashes = [at for at, letter in enumerate(stem) if letter == "-"]
    return any(is_skill_name(stem[:at]) and is_version(stem[at + 1 :]) for at in dashes)


def _is_half(path: str) -> bool:
    """Tell whether this is what a process that runs no more was writing."""
    match = HALF.fullmatch(path)
    return match is not None and path.endswith(".tmp") and _is_ours(match[1]) and not is_alive(int(match[2]))


def _is_ours(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    is_skill = folder == "skills" and name.endswith(".json") and is_skill_name(name.removesuffix(".json"))
    return is_skill or path in {CATALOGUE, PAGE, PATH} or _is_archive(path)
