"""Open a skill: read its file, wherever that is while a change goes on, and say what is wrong where it is none."""

import os

from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, FileError
from skillpm.files import OS_ERROR_REASONS
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import find_skill_file, read_regular_file, read_skill_file
from skillpm.installer.stat_cache import FileStat, to_file_stat
from skillpm.registry.build_state import RegistryProblem
from skillpm.registry.card import Card
from skillpm.registry.entry import build_entry
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


def open_skill(card: Card, directory: str) -> tuple[Skill, FileStat]:
    """Give all that a skill's file says, and the stamp of the file. `directory` is the skills directory, if it is one.

    Raises `FileError` where the file cannot be read and `DocumentError` where it is no skill.
    """
    try:
        data, state = _read_card_file(card, directory)
        return _parse_skill(data, card), to_file_stat(state)
    except OSError as error:
        reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or "it cannot be read")
        raise FileError(f"`{sanitize(card.name)}` cannot be read: {reason}", where=card.location) from error
    except NotLoadable as error:
        where = f"{card.location}:{error.finding.line}"
        raise DocumentError(f"`{sanitize(card.name)}` cannot be loaded: {error.finding.message}", where=where) from None


def read_folder_entry(directory: str, name: str) -> RegistryEntry | RegistryProblem:
    """Give the entry of a folder that the registry does not know, or why it has none."""
    path = f"{name}/{find_skill_file(f'{directory}/{name}')}"
    try:
        return build_entry(name, path, read_skill_file(f"{directory}/{name}"), pin=None, digest=None)
    except OSError as error:
        return RegistryProblem(path=path, message=error.strerror or "cannot be read")
    except NotLoadable as error:
        return RegistryProblem(path=path, message=f"line {error.finding.line}: {error.finding.message}")


def _read_card_file(card: Card, directory: str) -> tuple[bytes, os.stat_result]:
    """Give the bytes of a skill's file; while a change is under way, those it leads to."""
    if card.directory != directory or card.entry["filePath"] != f"{card.name}/{SKILL_FILE}":
        return read_regular_file(card.location)

    def look(seen: ReadView) -> tuple[tuple[bytes, os.stat_result] | OSError, bool]:
        try:
            return read_regular_file(f"{seen.skill_path(card.name)}/{SKILL_FILE}"), True
        except OSError as error:
            return error, False

    found = read_until_consistent(Layout(directory), look)
    if isinstance(found, OSError):
        raise found
    return found


def _parse_skill(data: bytes, card: Card) -> Skill:
    """Read a skill's file; a flat one of an old registry may have no frontmatter, and is all body then."""
    try:
        return read_skill(data)
    except NotLoadable as error:
        if error.finding.code != "no-frontmatter" or os.path.basename(card.location) in SKILL_FILES:
            raise
        body = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        return Skill(declared=card.name, description=card.description, body=body)
