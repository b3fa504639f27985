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

from skillpm.core.decoder import JsonNode, parse_json
from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName, is_skill_name, parse_skill_name, path_problem
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError, NewerDocument
from skillpm.files import read_text, write_document
from skillpm.installer.layout import Layout

FORMAT = 1
HASH_KEY = "sha256"
ROLES = ("receipt", "lockfile", "manifest", "registry")


class Put(Value):
    """A staged folder (`new`) that takes the place of another (`old`, 0: of nothing); `digest` is its content's."""

    new_inode: int
    old_inode: int = 0
    needs_backup: bool = False
    digest: str = ""


class Removal(Value):
    """A folder that goes."""

    old_inode: int
    needs_backup: bool = False


class Journal(Value):
    """Everything needed to finish a change. `documents`: role -> (hash before, hash after); `asides`: what lies at
    links' places and is set aside, agent folder -> skills; `returns`: backups that go back into an agent folder,
    agent folder -> skill -> backup; `spent`: backups that were copied to their place, and go; `flat`: files that
    became skills, and go in the end; `staging`: the folder that all of it waits in, 0 where that is not known.
    """

    puts: Mapping[SkillName, Put] = EMPTY_MAPPING
    removals: Mapping[SkillName, Removal] = EMPTY_MAPPING
    documents: Mapping[str, tuple[str, str]] = EMPTY_MAPPING
    link_backups: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING
    link_restores: Mapping[str, Mapping[SkillName, str]] = EMPTY_MAPPING
    consumed_backups: tuple[str, ...] = ()
    flat_files: Mapping[SkillName, str] = EMPTY_MAPPING
    staging_inode: int = 0

    @property
    def agent_folders(self) -> set[str]:
        """The agent folders in which something is set aside or brought back."""
        return {*self.link_backups, *self.link_restores}


def write_journal(layout: Layout, journal: Journal, *, fsync: bool) -> None:
    """Write the journal: from here on the change will be finished, now or by the next command that writes."""
    value = {
        "version": FORMAT,
        "puts": {
            name: [put.new_inode, put.old_inode, put.needs_backup, put.digest] for name, put in journal.puts.items()
        },
        "removals": {name: [removal.old_inode, removal.needs_backup] for name, removal in journal.removals.items()},
        "documents": {role: list(hashes) for role, hashes in journal.documents.items()},
        "asides": {folder: list(names) for folder, names in journal.link_backups.items()},
        "returns": {folder: dict(slots) for folder, slots in journal.link_restores.items()},
        "spent": list(journal.consumed_backups),
        "flat": dict(journal.flat_files),
        "staging": journal.staging_inode,
    }
    write_document(layout.journal, json.dumps(add_hash(value)).encode(), fsync=fsync)


def add_hash(value: dict[str, Any]) -> dict[str, Any]:
    """Give a journal with the hash over all of it."""
    rest = {key: part for key, part in value.items() if key != HASH_KEY}
    return {**rest, HASH_KEY: content_hash(json.dumps(rest).encode())}


def read_journal(layout: Layout) -> Journal | None:
    """Give the change under way, or None. Raises `DocumentError` for one with a wrong byte."""
    try:
        text = read_text(layout.journal)
        return None if text is None else _parse_journal(parse_json(text, layout.journal))
    except NewerDocument:
        raise
    except DocumentError as error:
        raise DocumentError(
            f"the journal of an interrupted change is damaged: {error.message}",
            where=error.where,
            hint="`skillpm doctor --fix` gives the change up, and keeps the journal as a backup",
        ) from error


def _parse_journal(top: JsonNode) -> Journal:
    top.check_format("version", FORMAT)
    if top.require(HASH_KEY).text() != add_hash(top.value)[HASH_KEY]:
        raise DocumentError("its bytes are not those that were written", where=top.file)
    puts = {parse_skill_name(key, where=node.where): _parse_row(node, 4) for key, node in top.require("puts").items()}
    removals = {
        parse_skill_name(key, where=node.where): _parse_row(node, 2) for key, node in top.require("removals").items()
    }
    flat, returns, spent, staging = (top.get(key) for key in ("flat", "returns", "spent", "staging"))
    documents = {role: node.texts() for role, node in top.require("documents").items() if role in ROLES}
    return Journal(
        puts={
            name: Put(new_inode=row[0], old_inode=row[1], needs_backup=bool(row[2]), digest=str(row[3]))
            for name, row in puts.items()
        },
        removals={name: Removal(old_inode=row[0], needs_backup=bool(row[1])) for name, row in removals.items()},
        documents={role: (hashes[0], hashes[1]) for role, hashes in documents.items() if len(hashes) == 2},  # noqa: PLR2004
        link_backups={
            folder: tuple(parse_skill_name(name, where=node.where) for name in node.texts())
            for folder, node in top.require("asides").items()
        },
        link_restores={}
        if returns is None
        else {
            folder: {parse_skill_name(name, where=part.where): _parse_backup_id(part) for name, part in node.items()}
            for folder, node in returns.items()
        },
        consumed_backups=() if spent is None else tuple(_parse_backup_id(node) for node in spent.elements()),
        flat_files={}
        if flat is None
        else {parse_skill_name(key, where=node.where): _parse_flat_path(node) for key, node in flat.items()},
        staging_inode=staging.value if staging is not None and type(staging.value) is int else 0,
    )


def read_inode(path: str) -> int:
    """Give what tells one folder from another at the same place; 0 where nothing is."""
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _parse_flat_path(node: JsonNode) -> str:
    """Give the path of a flat file: in the skills directory or one folder below, and none of our own."""
    path = node.text()
    if path_problem(path) or path.count("/") > 1 or path.startswith(".") or not path.lower().endswith(".md"):
        node.raise_expected("the path of a flat file")
    return path


def _parse_backup_id(node: JsonNode) -> str:
    """Give the id of a backup."""
    slot = node.text()
    name, _, number = slot.rpartition("-")
    if not (is_skill_name(name) and number.isascii() and number.isdigit()):
        node.raise_expected("the id of a backup")
    return slot


def _parse_row(node: JsonNode, length: int) -> list[Any]:
    if not isinstance(node.value, list) or len(node.value) != length or type(node.value[0]) is not int:
        node.raise_expected("a row of a journal")
    return list(node.value)
