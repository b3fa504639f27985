"""List and read the files of a skill."""

import os
from itertools import islice

from skillpm.core.names import SKILL_FILES
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import sanitize
from skillpm.errors import FileError
from skillpm.files import is_below, translate_os_errors
from skillpm.installer.disk.disk_state import walk_files
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.registry.card import Card
from skillpm.serving.access_errors import SkillFileNotFound

MAX_SCANNED_FILES = 5_000
MAX_FILE_BYTES = 16 * 1024 * 1024  # what a host of the Skills extension (SEP-2640) must accept of a whole skill
MAX_SIMILAR_FILES = 3
SCHEME = "skill://"


def build_uri(name: str, path: str) -> str:
    """Return the URI of a file or folder of a skill, as the Skills extension of MCP defines it."""
    from urllib.parse import quote  # noqa: PLC0415  (only servers need it)

    return f"{SCHEME}{quote(name, safe='')}/{quote(path)}" if path else f"{SCHEME}{quote(name, safe='')}"


def hide_folder(card: Card) -> Card:
    """Return a card whose location is a URI: a client on another machine has no use for a path of this one."""
    return Card({**card.entry, "filePath": os.path.basename(card.location)}, build_uri(card.name, ""))


def list_skill_files(card: Card) -> tuple[str, ...]:
    """Return the paths of a skill's other files, sorted; none for a flat file of an old registry.

    A link is listed if it points at a file inside the skill, and left out otherwise.
    """
    if os.path.basename(card.location) not in SKILL_FILES:
        return ()
    try:
        folder = os.path.realpath(card.folder)
        paths = [path for path, entry in islice(walk_files(folder), MAX_SCANNED_FILES) if _is_file(entry, folder)]
    except OSError:
        return ()
    return tuple(sorted(path for path in paths if path not in SKILL_FILES))


def read_file_of(card: Card, path: str) -> bytes:
    """Return the content of a file of a skill: its SKILL.md, or one that `list_skill_files` lists.

    Raises `SkillFileNotFound`, and `FileError` for a file that is too large or cannot be read.
    """
    wanted = path.removeprefix("./")
    files = (os.path.basename(card.location), *list_skill_files(card))
    if wanted not in files:
        same_name = [file for file in files if os.path.basename(file) == os.path.basename(wanted)]
        similar = dict.fromkeys([*same_name, *closest_matches(wanted, files)])
        raise SkillFileNotFound(card.name, path, [*similar][:MAX_SIMILAR_FILES])
    place = os.path.join(card.folder, wanted)
    with translate_os_errors("read a file of the skill", place):
        data, _ = read_regular_file(place, MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        message = f"`{sanitize(wanted, 200)}` of `{sanitize(card.name, 80)}` has more than {MAX_FILE_BYTES:,} bytes"
        raise FileError(message, where=place, skills=[card.name])
    return data


def _is_file(entry: os.DirEntry[str], folder: str) -> bool:
    """Return whether an entry is a regular file, or a link to one inside the folder."""
    if not entry.is_symlink():
        return entry.is_file()
    target = os.path.realpath(entry.path)
    return is_below(target, folder) and os.path.isfile(target)
