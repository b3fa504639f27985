"""List the files beside a SKILL.md: an agent gets their paths and reads them itself."""

import os
from itertools import islice

from skillpm.core.names import SKILL_FILES
from skillpm.files import is_below
from skillpm.installer.disk_state import walk_files
from skillpm.registry.card import Card

MAX_SCANNED_FILES = 5_000


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


def _is_file(entry: os.DirEntry[str], folder: str) -> bool:
    """Return whether an entry is a regular file, or a link to one inside the folder."""
    if not entry.is_symlink():
        return entry.is_file()
    target = os.path.realpath(entry.path)
    return is_below(target, folder) and os.path.isfile(target)
