"""Finish a change that was interrupted, when all that it needs is there, and is what was put there."""

import os
from collections.abc import Callable

from skillpm.core.text import show
from skillpm.errors import ConflictError, FileError
from skillpm.files import read_text, told
from skillpm.formats.receipt import read_receipt
from skillpm.installer.fingerprints import hash_of_file, staged_digest
from skillpm.installer.journal import Journal, inode, read_journal
from skillpm.installer.target import Target
from skillpm.installer.transaction import GIVE_UP, finish


def recover(target: Target, warn: Callable[[str], None]) -> bool:
    """Finish a change that was interrupted; tell whether there was one. Only under the lock."""
    journal = read_journal(target.layout)
    if journal is None:
        return False
    with told("look at what was staged", target.layout.staging):
        _refuse_damaged(target, journal)
    _refuse_planted(target, journal)
    with told("install", target.layout.directory, begun=True):
        finish(target, journal, warn)
    return True


def _refuse_damaged(target: Target, journal: Journal) -> None:
    """Raise `FileError` where what waits in staging is gone, or a byte of it is not what was put there: before
    anything moves.
    """
    layout = target.layout
    if journal.staging and inode(layout.staging) not in {0, journal.staging}:
        # Folders are known by their inodes: what is to go would be taken for something else, and left.
        raise FileError(
            "this skills directory was copied, or brought back, in the midst of a change; it cannot be finished here",
            where=layout.journal,
            hint=GIVE_UP,
        )
    for name, put in journal.puts.items():
        staged = os.path.join(layout.staging, name)
        if inode(layout.skill(name)) == put.new:
            continue
        if inode(staged) != put.new:
            raise FileError(f"the staged folder of {name} is gone", where=staged, hint=GIVE_UP)
        if put.digest and staged_digest(layout, name) != put.digest:
            raise FileError(f"the staged folder of {name} is damaged", where=staged, hint=GIVE_UP)
    for role, (_, after) in journal.documents.items():
        staged = layout.staged_document(role)
        if role in target.documents and after not in {hash_of_file(staged), hash_of_file(target.documents[role])}:
            raise FileError(f"the staged {role} is gone or damaged", where=staged, hint=GIVE_UP)


def _refuse_planted(target: Target, journal: Journal) -> None:
    """Refuse a journal that a checkout brought along: it may name no folder but those where agents read skills."""
    staged = read_text(target.layout.staged_document("receipt"))
    links = {} if staged is None else read_receipt(staged, target.layout.staged_document("receipt")).links
    for folder in sorted({*journal.folders, *links}):
        if not target.reads_skills(folder):
            raise ConflictError(
                f"a change was interrupted that puts something into {show(folder)}, where no agent reads skills",
                where=target.layout.journal,
                hint=GIVE_UP,
            )
