"""Finish an interrupted change, provided that everything it needs is there and undamaged."""

import os
from collections.abc import Callable

from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, FileError
from skillpm.files import read_text, translate_os_errors
from skillpm.formats.receipt import read_receipt
from skillpm.installer.journal import Journal, read_inode, read_journal
from skillpm.installer.late_edits import digest_staged_skill, hash_file
from skillpm.installer.layout import InstallTarget
from skillpm.installer.transaction import abandon_hint, finish


def recover(target: InstallTarget, warn: Callable[[str], None]) -> bool:
    """Finish an interrupted change, and return whether there was one. The caller holds the lock."""
    journal = read_journal(target.layout)
    if journal is None:
        return False
    with translate_os_errors("read the staged files", target.layout.staging):
        _raise_if_damaged(target, journal)
    _raise_if_untrusted(target, journal)
    with translate_os_errors("install", target.layout.directory, is_resumable=True):
        finish(target, journal, warn)
    return True


def _raise_if_damaged(target: InstallTarget, journal: Journal) -> None:
    """Raise `FileError` if staged content is missing or damaged, before anything is moved."""
    layout = target.layout
    if journal.staging_inode and read_inode(layout.staging) not in {0, journal.staging_inode}:
        # A copied directory has new inodes. No step of the journal would match its folder any more: replaced folders
        # would be taken for foreign ones, and stay.
        raise FileError(
            "this skills directory was copied or restored during a change, so the change cannot be finished",
            where=layout.journal,
            hint=abandon_hint(layout),
        )
    for name, put in journal.puts.items():
        staged = os.path.join(layout.staging, name)
        # Already in place: it may have been edited since, so its digest does not matter any more.
        if read_inode(layout.skill_path(name)) == put.new_inode:
            continue
        if read_inode(staged) != put.new_inode:
            raise FileError(f"{name}: the staged folder is missing", where=staged, hint=abandon_hint(layout))
        if put.digest and digest_staged_skill(layout, name) != put.digest:
            raise FileError(f"{name}: the staged folder is damaged", where=staged, hint=abandon_hint(layout))
    for role, (_, after) in journal.documents.items():
        staged = layout.staged_document_path(role)
        if role in target.documents and after not in {hash_file(staged), hash_file(target.documents[role])}:
            raise FileError(f"the staged {role} is missing or damaged", where=staged, hint=abandon_hint(layout))


def _raise_if_untrusted(target: InstallTarget, journal: Journal) -> None:
    """Refuse a journal that a git checkout brought along, by its targets.

    A journal names no paths except agent folders, so these are limited to folders where agents read skills: otherwise
    it could make skillpm write to, say, `.git/hooks`.
    """
    staged = read_text(target.layout.staged_document_path("receipt"))
    links = {} if staged is None else read_receipt(staged, target.layout.staged_document_path("receipt")).links
    for folder in sorted({*journal.agent_folders, *links}):
        if not target.is_agent_folder(folder):
            raise ConflictError(
                f"the interrupted change writes to {sanitize(folder)}, where no agent reads skills",
                where=target.layout.journal,
                hint=abandon_hint(target.layout),
            )
