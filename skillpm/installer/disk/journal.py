"""`.skillpm/journal.json`: the write-ahead journal of a change, from the decision until the last rename (ADR 4).

The journal names skills and document roles, never paths, so a journal planted in a repository cannot redirect a change.
The only exception are the flat files that `migrate` converts: these are named by paths inside the directory, and a file
is deleted only if the skill made from it contains all its bytes.

Folders are identified by inode. A rename keeps the inode, so one `lstat` shows whether a step is done, also after a
crash. The hash over the whole journal detects corruption: a single wrong digit in an inode would otherwise make
recovery skip a step without an error. It does not protect against an attacker, who can recompute it.

Against a journal that came with a checkout, the binding protects: inode and ctime of the folder of staged documents.
Nobody can choose a ctime, so neither a clone, an archive nor a copy of the folder can contain the right one (ADR 27).
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from skillpm.core.digest import content_hash
from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.names import SkillName, is_skill_name, parse_skill_name, path_problem
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError, NewerDocument
from skillpm.files import read_text, write_document
from skillpm.installer.disk.layout import Layout

FORMAT = 2
HASH_KEY = "sha256"
ROLES = ("receipt", "lockfile", "manifest", "registry")


class Put(Value):
    """A staged folder that is to be moved into place."""

    new_inode: int
    # The folder that it replaces; 0 for none.
    old_inode: int = 0
    # Back the replaced folder up instead of discarding it.
    needs_backup: bool = False
    # The digest of the staged content, checked before an interrupted change is finished.
    digest: str = ""


class Removal(Value):
    """A folder that is to be removed."""

    old_inode: int
    needs_backup: bool = False


class Journal(Value):
    """Everything that is needed to finish a change."""

    puts: Mapping[SkillName, Put] = EMPTY_MAPPING
    removals: Mapping[SkillName, Removal] = EMPTY_MAPPING
    # Role -> (hash before, hash after); an empty hash stands for a missing document.
    documents: Mapping[str, tuple[str, str]] = EMPTY_MAPPING
    # Agent folder -> skills whose link path is occupied; what is there is backed up.
    link_backups: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING
    # Agent folder -> skill -> ID of the backup that is moved back there.
    link_restores: Mapping[str, Mapping[SkillName, str]] = EMPTY_MAPPING
    # Backups that were copied to staging; they are deleted at the end.
    consumed_backups: tuple[str, ...] = ()
    # Skill -> path of the flat file it was made from; these are deleted at the end.
    flat_files: Mapping[SkillName, str] = EMPTY_MAPPING

    @property
    def agent_folders(self) -> set[str]:
        """The agent folders in which something is backed up or restored."""
        return {*self.link_backups, *self.link_restores}


def write_journal(layout: Layout, journal: Journal, *, fsync: bool) -> None:
    """Write the journal. This is the commit point: from here on the change will be finished, by this command or the
    next.
    """
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
        "binding": read_binding(layout),
    }
    write_document(layout.journal, json.dumps(add_hash(value)).encode(), fsync=fsync)


def add_hash(value: dict[str, Any]) -> dict[str, Any]:
    """Return a journal document with the hash over all its other members added."""
    rest = {key: part for key, part in value.items() if key != HASH_KEY}
    return {**rest, HASH_KEY: content_hash(json.dumps(rest).encode())}


def read_binding(layout: Layout) -> str:
    """Return what ties a journal to this folder on this machine, as `inode:ctime_ns`; empty without staged documents.

    The device is left out: it may have another number after a reboot, when an interrupted change is still ours.
    """
    try:
        state = os.lstat(os.path.dirname(layout.staged_document_path("receipt")))
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return f"{state.st_ino}:{state.st_ctime_ns}"


def read_journal(layout: Layout) -> Journal | None:
    """Return the pending change; None if there is none, or only a journal that was not written here.

    Raises `DocumentError` for a damaged journal.
    """
    try:
        text, binding = read_text(layout.journal), read_binding(layout)
        # Checked before anything is parsed: a journal from elsewhere is not read, so it cannot be damaged either.
        if text is None or not binding or f'"{binding}"' not in text:
            return None
        top = parse_json(text, layout.journal)
        journal = _parse_journal(top)
        return journal if top.require("binding").text() == binding else None
    except NewerDocument:
        raise
    except DocumentError as error:
        raise DocumentError(
            f"the journal of an interrupted change is damaged: {error.message}",
            where=error.where,
            hint=f"run `{layout.command('doctor', '--fix')}` to abandon the change and keep the journal as a backup",
        ) from error


def is_change_pending(layout: Layout) -> bool:
    """Return whether a change was interrupted here. A journal from elsewhere is none; a damaged one of our own is."""
    try:
        return read_journal(layout) is not None
    except DocumentError:
        return True


def _parse_journal(top: JsonNode) -> Journal:
    top.check_format(FORMAT)
    # Compare before anything else is interpreted: a wrong byte may well result in a valid journal.
    if top.require(HASH_KEY).text() != add_hash(top.value)[HASH_KEY]:
        raise DocumentError("checksum mismatch", where=top.file)
    puts = {parse_skill_name(key, where=node.where): _parse_row(node, 4) for key, node in top.require("puts").items()}
    removals = {
        parse_skill_name(key, where=node.where): _parse_row(node, 2) for key, node in top.require("removals").items()
    }
    flat, returns, spent = (top.get(key) for key in ("flat", "returns", "spent"))
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
    )


def read_inode(path: str) -> int:
    """Return the inode of what is at a path, without following links; 0 if there is nothing."""
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _parse_flat_path(node: JsonNode) -> str:
    """Return the path of a flat file in the skills directory: neither it nor a folder above it is hidden."""
    path = node.text()
    if path_problem(path) or f"/{path}".count("/.") or not path.lower().endswith(".md"):
        node.raise_expected("a flat file path")
    return path


def _parse_backup_id(node: JsonNode) -> str:
    backup_id = node.text()
    name, _, number = backup_id.rpartition("-")
    if not (is_skill_name(name) and number.isascii() and number.isdigit()):
        node.raise_expected("a backup ID")
    return backup_id


def _parse_row(node: JsonNode, length: int) -> list[Any]:
    if not isinstance(node.value, list) or len(node.value) != length or type(node.value[0]) is not int:
        node.raise_expected("a journal row")
    return list(node.value)
