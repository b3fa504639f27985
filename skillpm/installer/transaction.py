"""Carry a change out: all of it or nothing, and after a crash whoever writes next finishes it.

    staging → journal → folders → links → receipt → lockfile → manifest → registry → journal gone → trash emptied

Before the journal is written nothing visible has changed, and what is staged is rubbish. From then on every step
can be done again: a folder that has its new inode is done, a document that has its new hash is done. So `finish` is
both the way a change is carried out and the way it is recovered.
"""

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentChanged, FileError
from skillpm.files import OS_ERROR_REASONS, discard_file, read_text, sync_folder, translate_os_errors, write_document
from skillpm.formats.receipt import read_receipt
from skillpm.installer.backups import back_up_legacy_registry, discard_backup
from skillpm.installer.fingerprints import digest_path, digest_staged_skill, hash_file, hash_text
from skillpm.installer.journal import ROLES, Journal, Put, Removal, read_inode, write_journal
from skillpm.installer.layout import Layout, load_receipt
from skillpm.installer.leftovers import remove_leftovers
from skillpm.installer.migration.cleanup import remove_migrated_files
from skillpm.installer.moves import execute_moves
from skillpm.installer.rename import raise_if_unmovable
from skillpm.installer.staging import stage_documents
from skillpm.installer.target import InstallTarget

ABANDON_HINT = "`skillpm sync --force` gives that change up and makes the state of the lockfile"


class ChangeSet(Value):
    """What is to happen besides the documents. The values of `puts` (staged skills) and `removals` say whether what
    lies there is set aside as a backup; `asides` are the same for things at links' places, by agent folder. `returns`
    are backups that go back into agent folders, `spent` those that were staged; `flat` are flat files that staged
    skills were made of: name -> path. `digests` are those of what is staged, where they are known already. `read`
    are texts of documents that all this was decided by: role -> text, None where there was none.
    """

    puts: Mapping[SkillName, bool] = EMPTY_MAPPING
    removals: Mapping[SkillName, bool] = EMPTY_MAPPING
    link_backups: Mapping[str, Collection[SkillName]] = EMPTY_MAPPING
    link_restores: Mapping[str, Mapping[SkillName, str]] = EMPTY_MAPPING
    consumed_backups: tuple[str, ...] = ()
    flat_files: Mapping[SkillName, str] = EMPTY_MAPPING
    staged_digests: Mapping[SkillName, str] = EMPTY_MAPPING
    documents_read: Mapping[str, str | None] = EMPTY_MAPPING


def commit(target: InstallTarget, change: ChangeSet, documents: Mapping[str, str], warn: Callable[[str], None]) -> None:
    """Carry a change out, and write the documents. Only under the lock, after everything was staged and has settled
    (`Settling`).

    Raises `DocumentMoved`, with nothing changed, where a document is not what it was decided by: a download takes long
    enough for somebody to save his manifest, or to change the branch.
    """
    layout = target.layout
    for role, text in change.documents_read.items():
        _raise_if_changed(target.documents[role], hash_text(text))
    stage_documents(layout, documents, fsync=target.fsync)
    with translate_os_errors("look at what is to be moved", layout.directory):
        moved = [layout.skill_path(name) for name in {**change.puts, **change.removals}]
        moved += [
            os.path.join(target.link_folders.path(folder), name)
            for folder, of in change.link_backups.items()
            for name in of
        ]
        raise_if_unmovable(layout, moved)
    puts = {**dict.fromkeys(change.flat_files, False), **change.puts}
    journal = Journal(
        puts={
            name: Put(
                new_inode=read_inode(os.path.join(layout.staging, name)),
                old_inode=read_inode(layout.skill_path(name)),
                needs_backup=aside,
                digest=change.staged_digests.get(name) or digest_staged_skill(layout, name),
            )
            for name, aside in puts.items()
        },
        removals={
            name: Removal(old_inode=read_inode(layout.skill_path(name)), needs_backup=aside)
            for name, aside in change.removals.items()
        },
        documents=_hash_documents(target, documents, change.documents_read),
        link_backups={folder: tuple(sorted(names)) for folder, names in change.link_backups.items()},
        link_restores=change.link_restores,
        consumed_backups=change.consumed_backups,
        flat_files=change.flat_files,
        staging_inode=read_inode(layout.staging),
    )
    with translate_os_errors("write the journal", layout.journal):
        if target.fsync:
            # The names in them; what is in the folders has settled.
            sync_folder(os.path.dirname(layout.staged_document_path("receipt")))
            sync_folder(layout.staging)
        write_journal(layout, journal, fsync=target.fsync)
    try:
        finish(target, journal, warn)
    except OSError as error:
        with translate_os_errors(
            "install", layout.directory, is_resumable=not _roll_back_if_untouched(target, journal)
        ):
            raise error from None


def finish(target: InstallTarget, journal: Journal, warn: Callable[[str], None]) -> None:
    """Do whatever of a change is not done yet. Raises `OSError`."""
    layout = target.layout
    before = load_receipt(layout)
    staged = read_text(layout.staged_document_path("receipt"))
    after = before if staged is None else read_receipt(staged, layout.staged_document_path("receipt"))
    execute_moves(target, journal, before, after, warn, is_receipt_written=_is_receipt_written(target, journal))
    for role in ROLES:
        if role in journal.documents and role in target.documents:
            _write_document(target, role, journal.documents[role], warn)
    remove_migrated_files(layout, journal.flat_files, warn)
    for slot in journal.consumed_backups:
        _discard_restored_backup(layout, journal, slot, warn)
    if target.fsync and (journal.flat_files or journal.consumed_backups):
        sync_folder(layout.directory)
    discard_file(layout.journal)
    if target.fsync:
        try:
            sync_folder(layout.internal_dir)
        except OSError as error:
            reason = OS_ERROR_REASONS.get(error.errno or 0, str(error))
            warn(f"all is done, but the disk did not confirm it: {reason}; the system's log says more")
    with suppress(OSError):  # all is done; the next command that writes takes away what is left
        remove_leftovers(layout, warn)


def _roll_back_if_untouched(target: InstallTarget, journal: Journal) -> bool:
    """Take back a change of which nothing was done, since its first move was refused; tell whether it was so."""
    layout = target.layout
    olds = {name: put.old_inode for name, put in journal.puts.items()}
    olds |= {name: removal.old_inode for name, removal in journal.removals.items()}
    is_untouched = (
        bool(olds)  # folders of skills move before all that this does not look at, but for what is set aside
        and not journal.link_backups
        and all(read_inode(layout.skill_path(name)) == old for name, old in olds.items())
        and all(read_inode(os.path.join(layout.staging, name)) == put.new_inode for name, put in journal.puts.items())
    )
    with suppress(OSError):
        if is_untouched:
            discard_file(layout.journal)
            if target.fsync:
                sync_folder(layout.internal_dir)
            os.rmdir(layout.trash)
    return not os.path.lexists(layout.journal)


def _discard_restored_backup(layout: Layout, journal: Journal, backup_id: str, warn: Callable[[str], None]) -> None:
    """Remove a backup whose every byte was brought back. One that somebody edited since, or that holds what cannot be
    copied, stays, and so does one of which a planted journal only says so.
    """
    kept = os.path.join(layout.backups, backup_id)
    put = journal.puts.get(SkillName(backup_id.rpartition("-")[0]))
    if os.path.lexists(kept) and not (put and put.digest and put.digest == digest_path(kept)):
        warn(f"backup {backup_id} holds other things than what was brought back; it stays: {kept}")
    else:
        discard_backup(layout, backup_id)


def _is_receipt_written(target: InstallTarget, journal: Journal) -> bool:
    """Tell whether the receipt was written already: what it says is not what left its place, then."""
    old, new = journal.documents.get("receipt", ("", ""))
    return old != new and hash_file(target.documents["receipt"]) == new


def _write_document(target: InstallTarget, role: str, hashes: tuple[str, str], warn: Callable[[str], None]) -> None:
    """Bring one document to its place, unless a person changed it since the change was decided."""
    path, staged = target.documents[role], target.layout.staged_document_path(role)
    there = hash_file(path)
    if there == hashes[1]:
        return
    text = read_text(staged)
    if text is None or content_hash(text.encode()) != hashes[1]:
        raise FileError(f"the staged {role} is gone or damaged", where=staged, hint=ABANDON_HINT)
    if role not in {"manifest", "lockfile"}:
        if role == "registry":
            back_up_legacy_registry(target.layout, warn, fsync=target.fsync)
        write_document(path, text.encode(), fsync=target.fsync)
        return
    try:
        refuse_moved = partial(_raise_if_changed, path, hashes[0])
        refuse_moved()
        write_document(path, text.encode(), fsync=target.fsync, follow_links=True, before_rename=refuse_moved)
    except DocumentChanged:
        warn(f"{path} was changed while a command was at work or interrupted; it is left as it is")


def _raise_if_changed(path: str, expected_hash: str) -> None:
    if hash_file(path) != expected_hash:
        raise DocumentChanged(path)


def _hash_documents(
    target: InstallTarget, documents: Mapping[str, str], documents_read: Mapping[str, str | None]
) -> dict[str, tuple[str, str]]:
    """Give each document's hash as it is, or was when it was read, and as it will be."""
    return {
        role: (
            hash_text(documents_read[role]) if role in documents_read else hash_file(target.documents[role]),
            hash_text(text),
        )
        for role, text in documents.items()
    }
