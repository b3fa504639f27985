"""Open skills: read the SKILL.md, wherever a change has it at the moment, and parse it."""

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
    """Return a parsed skill and the stat of its file. `directory` is the skills directory, or empty.

    Raises `FileError` if the file cannot be read, and `DocumentError` if it is not a valid skill.
    """
    try:
        data, state = _read_card_file(card, directory)
        return _parse_skill(data, card), to_file_stat(state)
    except OSError as error:
        reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or "unknown error")
        raise FileError(f"`{sanitize(card.name)}` cannot be read: {reason}", where=card.location) from error
    except NotLoadable as error:
        where = f"{card.location}:{error.finding.line}"
        raise DocumentError(f"`{sanitize(card.name)}` cannot be loaded: {error.finding.message}", where=where) from None


def read_folder_entry(directory: str, name: str) -> RegistryEntry | RegistryProblem:
    """Return the entry of a folder that the registry does not list, or the reason why it has none."""
    path = f"{name}/{find_skill_file(f'{directory}/{name}')}"
    try:
        return build_entry(name, path, read_skill_file(f"{directory}/{name}"), pin=None, digest=None)
    except OSError as error:
        return RegistryProblem(path=path, message=error.strerror or "cannot be read")
    except NotLoadable as error:
        return RegistryProblem(path=path, message=f"line {error.finding.line}: {error.finding.message}")


def _read_card_file(card: Card, directory: str) -> tuple[bytes, os.stat_result]:
    """Return the content and stat of a skill's file; during a change, wherever the view says it is."""
    if card.directory != directory or card.entry["filePath"] != f"{card.name}/{SKILL_FILE}":
        return read_regular_file(card.location)

    def read_file(view: ReadView) -> tuple[tuple[bytes, os.stat_result] | OSError, bool]:
        try:
            return read_regular_file(f"{view.skill_path(card.name)}/{SKILL_FILE}"), True
        except OSError as error:
            return error, False

    result = read_until_consistent(Layout(directory), read_file)
    if isinstance(result, OSError):
        raise result
    return result


def _parse_skill(data: bytes, card: Card) -> Skill:
    """Parse a skill's file. A flat file of an old registry may lack frontmatter; then it is all body."""
    try:
        return read_skill(data)
    except NotLoadable as error:
        if error.finding.code != "no-frontmatter" or os.path.basename(card.location) in SKILL_FILES:
            raise
        body = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        return Skill(declared=card.name, description=card.description, body=body)
