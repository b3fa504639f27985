"""Finish an interrupted change, provided that everything it needs is there and undamaged."""

import os
from collections.abc import Callable

from skillpm.core.text import sanitize
from skillpm.directories import make_folders
from skillpm.errors import ConflictError, FileError
from skillpm.files import read_text, translate_os_errors
from skillpm.formats.receipt import read_receipt
from skillpm.installer.disk.journal import Journal, read_inode, read_journal
from skillpm.installer.disk.late_edits import back_up_abandoned_change, digest_staged_skill, hash_file
from skillpm.installer.disk.layout import InstallTarget, Layout
from skillpm.installer.disk.rename import move_path
from skillpm.installer.transaction import abandon_hint, finish


def recover(target: InstallTarget, warn: Callable[[str], None], *, may_write_documents: bool = True) -> bool:
    """Finish an interrupted change, and return whether there was one. The caller holds the lock.

    A journal that was not written here is not carried out: it is moved to `Layout.rejected`, with a warning, and the
    local work that it left in staging or trash becomes a backup. Raises `ConflictError` if the change still has to
    write the manifest or the lockfile and `may_write_documents` is false.
    """
    journal = read_journal(target.layout)
    if journal is None:
        if os.path.lexists(target.layout.journal):
            _reject_journal(target.layout, warn)
        return False
    with translate_os_errors("read the staged files", target.layout.staging):
        _raise_if_damaged(target, journal)
    _raise_if_untrusted(target, journal)
    if not may_write_documents:
        _raise_if_documents_pending(target, journal)
    with translate_os_errors("install", target.layout.directory, is_resumable=True):
        finish(target, journal, warn)
    return True


def _reject_journal(layout: Layout, warn: Callable[[str], None]) -> None:
    """Move a journal that was not written here out of the way; nothing in it is believed."""
    with translate_os_errors("reject a journal", layout.journal):
        back_up_abandoned_change(layout, warn)
        make_folders(layout.rejected)
        number = 1
        while os.path.lexists(path := os.path.join(layout.rejected, f"journal-{number}.json")):
            number += 1
        move_path(layout.journal, path)
    warn(
        "ignored the journal of a change that did not start in this directory: it was copied, or came with a checkout"
        f"; the journal is kept as {path}"
    )


def _raise_if_documents_pending(target: InstallTarget, journal: Journal) -> None:
    for role in ("manifest", "lockfile"):
        _, after = journal.documents.get(role, ("", ""))
        if role in target.documents and after and hash_file(target.documents[role]) != after:
            raise ConflictError(
                f"finishing an interrupted change would write the {role}, which --frozen and --locked forbid",
                where=target.documents[role],
                hint=f"run `{target.layout.command('sync')}` without them to finish that change",
            )


def _raise_if_damaged(target: InstallTarget, journal: Journal) -> None:
    """Raise `FileError` if staged content is missing or damaged, before anything is moved."""
    layout = target.layout
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
    """Refuse a journal that writes outside the folders where agents read skills.

    It names no other paths, so that even a forged one that were believed could not write to, say, `.git/hooks`.
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
