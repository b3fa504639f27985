"""`.skillpm/journal.json`: a change under way, from the moment it is decided until the last rename.

It names skills and roles, never paths: a journal that somebody planted in a repository cannot point anywhere else.
Only flat files that `migrate` moves are named by theirs, inside the directory; and one is removed only when the skill
made of it holds all its bytes.
Folders are told apart by inode: a rename keeps it, so one look says whether a step was done. A hash over all of it
finds a wrong byte: one digit of an inode would otherwise leave a step out in silence.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from skillpm.core.decoder import Node, parse_json
from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName, is_skill_name, path_fault, skill_name
from skillpm.core.values import NOTHING, Value
from skillpm.errors import DocumentError, NewerDocument
from skillpm.files import read_text, write_document
from skillpm.installer.layout import Layout

FORMAT = 1
HASH = "sha256"
ROLES = ("receipt", "lockfile", "manifest", "registry")


class Put(Value):
    """A staged folder (`new`) that takes the place of another (`old`, 0: of nothing); `digest` is its content's."""

    new: int
    old: int = 0
    aside: bool = False
    digest: str = ""


class Removal(Value):
    """A folder that goes."""

    old: int
    aside: bool = False


class Journal(Value):
    """Everything needed to finish a change. `documents`: role -> (hash before, hash after); `asides`: what lies at
    links' places and is set aside, agent folder -> skills; `returns`: backups that go back into an agent folder,
    agent folder -> skill -> backup; `spent`: backups that were copied to their place, and go; `flat`: files that
    became skills, and go in the end; `staging`: the folder that all of it waits in, 0 where that is not known.
    """

    puts: Mapping[SkillName, Put] = NOTHING
    removals: Mapping[SkillName, Removal] = NOTHING
    documents: Mapping[str, tuple[str, str]] = NOTHING
    asides: Mapping[str, tuple[SkillName, ...]] = NOTHING
    returns: Mapping[str, Mapping[SkillName, str]] = NOTHING
    spent: tuple[str, ...] = ()
    flat: Mapping[SkillName, str] = NOTHING
    staging: int = 0

    @property
    def folders(self) -> set[str]:
        """The agent folders in which something is set aside or brought back."""
        return {*self.asides, *self.returns}


def write_journal(layout: Layout, journal: Journal, *, fsync: bool) -> None:
    """Write the journal: from here on the change will be finished, now or by the next command that writes."""
    value = {
        "version": FORMAT,
        "puts": {name: [put.new, put.old, put.aside, put.digest] for name, put in journal.puts.items()},
        "removals": {name: [removal.old, removal.aside] for name, removal in journal.removals.items()},
        "documents": {role: list(hashes) for role, hashes in journal.documents.items()},
        "asides": {folder: list(names) for folder, names in journal.asides.items()},
        "returns": {folder: dict(slots) for folder, slots in journal.returns.items()},
        "spent": list(journal.spent),
        "flat": dict(journal.flat),
        "staging": journal.staging,
    }
    write_document(layout.journal, json.dumps(sealed(value)).encode(), fsync=fsync)


def sealed(value: dict[str, Any]) -> dict[str, Any]:
    """Give a journal with the hash over all of it."""
    rest = {key: part for key, part in value.items() if key != HASH}
    return {**rest, HASH: content_hash(json.dumps(rest).encode())}


def read_journal(layout: Layout) -> Journal | None:
    """Give the change under way, or None. Raises `DocumentError` for one with a wrong byte."""
    try:
        text = read_text(layout.journal)
        return None if text is None else _read(parse_json(text, layout.journal))
    except NewerDocument:
        raise
    except DocumentError as error:
        raise DocumentError(
            f"the journal of an interrupted change is damaged: {error.message}",
            where=error.where,
            hint="`skillpm doctor --fix` gives the change up, and keeps the journal as a backup",
        ) from error


def _read(top: Node) -> Journal:
    top.format_number("version", FORMAT)
    if top.need(HASH).text() != sealed(top.value)[HASH]:
        raise DocumentError("its bytes are not those that were written", where=top.file)
    puts = {skill_name(key, where=node.where): _row(node, 4) for key, node in top.need("puts").items()}
    removals = {skill_name(key, where=node.where): _row(node, 2) for key, node in top.need("removals").items()}
    flat, returns, spent, staging = (top.get(key) for key in ("flat", "returns", "spent", "staging"))
    documents = {role: node.texts() for role, node in top.need("documents").items() if role in ROLES}
    return Journal(
        puts={name: Put(new=row[0], old=row[1], aside=bool(row[2]), digest=str(row[3])) for name, row in puts.items()},
        removals={name: Removal(old=row[0], aside=bool(row[1])) for name, row in removals.items()},
        documents={role: (hashes[0], hashes[1]) for role, hashes in documents.items() if len(hashes) == 2},  # noqa: PLR2004
        asides={
            folder: tuple(skill_name(name, where=node.where) for name in node.texts())
            for folder, node in top.need("asides").items()
        },
        returns={}
        if returns is None
        else {
            folder: {skill_name(name, where=part.where): _slot(part) for name, part in node.items()}
            for folder, node in returns.items()
        },
        spent=() if spent is None else tuple(_slot(node) for node in spent.elements()),
        flat={}
        if flat is None
        else {skill_name(key, where=node.where): _flat_path(node) for key, node in flat.items()},
        staging=staging.value if staging is not None and type(staging.value) is int else 0,
    )


def inode(path: str) -> int:
    """Give what tells one folder from another at the same place; 0 where nothing is."""
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _flat_path(node: Node) -> str:
    """Give the path of a flat file: in the skills directory or one folder below, and none of our own."""
    path = node.text()
    if path_fault(path) or path.count("/") > 1 or path.startswith(".") or not path.lower().endswith(".md"):
        node.expected("the path of a flat file")
    return path


def _slot(node: Node) -> str:
    """Give the id of a backup."""
    slot = node.text()
    name, _, number = slot.rpartition("-")
    if not (is_skill_name(name) and number.isascii() and number.isdigit()):
        node.expected("the id of a backup")
    return slot


def _row(node: Node, length: int) -> list[Any]:
    if not isinstance(node.value, list) or len(node.value) != length or type(node.value[0]) is not int:
        node.expected("a row of a journal")
    return list(node.value)
