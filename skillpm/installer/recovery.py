"""Finish a change that was interrupted, when all that it needs is there, and is what was put there."""

import os
from collections.abc import Callable

from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, FileError
from skillpm.files import read_text, translate_os_errors
from skillpm.formats.receipt import read_receipt
from skillpm.installer.fingerprints import digest_staged_skill, hash_file
from skillpm.installer.journal import Journal, read_inode, read_journal
from skillpm.installer.target import InstallTarget
from skillpm.installer.transaction import ABANDON_HINT, finish


def recover(target: InstallTarget, warn: Callable[[str], None]) -> bool:
    """Finish a change that was interrupted; tell whether there was one. Only under the lock."""
    journal = read_journal(target.layout)
    if journal is None:
        return False
    with translate_os_errors("look at what was staged", target.layout.staging):
        _raise_if_damaged(target, journal)
    _raise_if_untrusted(target, journal)
    with translate_os_errors("install", target.layout.directory, is_resumable=True):
        finish(target, journal, warn)
    return True


def _raise_if_damaged(target: InstallTarget, journal: Journal) -> None:
    """Raise `FileError` where what waits in staging is gone, or a byte of it is not what was put there: before
    anything moves.
    """
    layout = target.layout
    if journal.staging_inode and read_inode(layout.staging) not in {0, journal.staging_inode}:
        # Folders are known by their inodes: what is to go would be taken for something else, and left.
        raise FileError(
            "this skills directory was copied, or brought back, in the midst of a change; it cannot be finished here",
            where=layout.journal,
            hint=ABANDON_HINT,
        )
    for name, put in journal.puts.items():
        staged = os.path.join(layout.staging, name)
        if read_inode(layout.skill_path(name)) == put.new_inode:
            continue
        if read_inode(staged) != put.new_inode:
            raise FileError(f"the staged folder of {name} is gone", where=staged, hint=ABANDON_HINT)
        if put.digest and digest_staged_skill(layout, name) != put.digest:
            raise FileError(f"the staged folder of {name} is damaged", where=staged, hint=ABANDON_HINT)
    for role, (_, after) in journal.documents.items():
        staged = layout.staged_document_path(role)
        if role in target.documents and after not in {hash_file(staged), hash_file(target.documents[role])}:
            raise FileError(f"the staged {role} is gone or damaged", where=staged, hint=ABANDON_HINT)


def _raise_if_untrusted(target: InstallTarget, journal: Journal) -> None:
    """Refuse a journal that a checkout brought along: it may name no folder but those where agents read skills."""
    staged = read_text(target.layout.staged_document_path("receipt"))
    links = {} if staged is None else read_receipt(staged, target.layout.staged_document_path("receipt")).links
    for folder in sorted({*journal.agent_folders, *links}):
        if not target.is_agent_folder(folder):
            raise ConflictError(
                f"a change was interrupted that puts something into {sanitize(folder)}, where no agent reads skills",
                where=target.layout.journal,
                hint=ABANDON_HINT,
            )
