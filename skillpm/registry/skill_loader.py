"""Open a skill: read its file, wherever that is while a change goes on, and say what is wrong where it is none."""

import os

from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.core.text import show
from skillpm.errors import DocumentError, FileError
from skillpm.files import REASONS
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.consistent_view import View, look_until
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import read_regular_file, read_skill_file, skill_file_in
from skillpm.installer.stat_cache import Stamp, stamp_of
from skillpm.registry.build_state import Problem
from skillpm.registry.card import Card
from skillpm.registry.entry import entry_of
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


def open_skill(card: Card, directory: str) -> tuple[Skill, Stamp]:
    """Give all that a skill's file says, and the stamp of the file. `directory` is the skills directory, if it is one.

    Raises `FileError` where the file cannot be read and `DocumentError` where it is no skill.
    """
    try:
        data, state = _bytes(card, directory)
        return _skill(data, card), stamp_of(state)
    except OSError as error:
        reason = REASONS.get(error.errno or 0, error.strerror or "it cannot be read")
        raise FileError(f"`{show(card.name)}` cannot be read: {reason}", where=card.location) from error
    except NotLoadable as error:
        where = f"{card.location}:{error.finding.line}"
        raise DocumentError(f"`{show(card.name)}` cannot be loaded: {error.finding.message}", where=where) from None


def entry_of_folder(directory: str, name: str) -> RegistryEntry | Problem:
    """Give the entry of a folder that the registry does not know, or why it has none."""
    path = f"{name}/{skill_file_in(f'{directory}/{name}')}"
    try:
        return entry_of(name, path, read_skill_file(f"{directory}/{name}"), pin=None, digest=None)
    except OSError as error:
        return Problem(path=path, message=error.strerror or "cannot be read")
    except NotLoadable as error:
        return Problem(path=path, message=f"line {error.finding.line}: {error.finding.message}")


def _bytes(card: Card, directory: str) -> tuple[bytes, os.stat_result]:
    """Give the bytes of a skill's file; while a change is under way, those it leads to."""
    if card.directory != directory or card.entry["filePath"] != f"{card.name}/{SKILL_FILE}":
        return read_regular_file(card.location)

    def look(seen: View) -> tuple[tuple[bytes, os.stat_result] | OSError, bool]:
        try:
            return read_regular_file(f"{seen.skill(card.name)}/{SKILL_FILE}"), True
        except OSError as error:
            return error, False

    found = look_until(Layout(directory), look)
    if isinstance(found, OSError):
        raise found
    return found


def _skill(data: bytes, card: Card) -> Skill:
    """Read a skill's file; a flat one of an old registry may have no frontmatter, and is all body then."""
    try:
        return read_skill(data)
    except NotLoadable as error:
        if error.finding.code != "no-frontmatter" or os.path.basename(card.location) in SKILL_FILES:
            raise
        body = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        return Skill(declared=card.name, description=card.description, body=body)
