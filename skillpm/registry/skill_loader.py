"""Open skills: read the SKILL.md, wherever a change has it at the moment, and parse it."""

import os

from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, FileError
from skillpm.files import OS_ERROR_REASONS
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.registry.card import Card
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


def open_skill(card: Card, directory: str) -> Skill:
    """Return a parsed skill. `directory` is the skills directory, or empty.

    Raises `FileError` if the file cannot be read, and `DocumentError` if it is not a valid skill.
    """
    try:
        return _parse_skill(_read_card_file(card, directory), card)
    except OSError as error:
        reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or "unknown error")
        raise FileError(f"`{sanitize(card.name)}` cannot be read: {reason}", where=card.location) from error
    except NotLoadable as error:
        where = f"{card.location}:{error.finding.line}"
        raise DocumentError(f"`{sanitize(card.name)}` cannot be loaded: {error.finding.message}", where=where) from None


def _read_card_file(card: Card, directory: str) -> bytes:
    """Return the content of a skill's file; during a change, wherever the view says it is."""
    if card.directory != directory or card.entry["filePath"] != f"{card.name}/{SKILL_FILE}":
        return read_regular_file(card.location)[0]

    def read_file(view: ReadView) -> tuple[bytes | OSError, bool]:
        try:
            return read_regular_file(f"{view.skill_path(card.name)}/{SKILL_FILE}")[0], True
        except OSError as error:
            return error, False

    result = read_until_consistent(Layout(directory=directory), read_file)
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
