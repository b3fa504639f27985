"""Apply a change completely or not at all, and finish an interrupted one (ADR 4).

    staging → journal → folders → links → receipt → lockfile → manifest → registry → journal deleted → trash emptied

Until the journal is written, nothing visible has changed and staging is garbage that the next command removes. From
then on the change only goes forward: every step can be repeated, since a folder with its new inode and a document with
its new hash are done. So `finish` both applies a change and recovers it after a crash. It never rolls back, since a
rollback could be interrupted as well; the only exception is a change whose very first move fails.
"""

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.directories import remove_folder
from skillpm.errors import DocumentChanged, FileError
from skillpm.files import OS_ERROR_REASONS, discard_file, read_text, sync_folder, translate_os_errors, write_document
from skillpm.formats.receipt import read_receipt
from skillpm.installer.disk.backups import back_up_legacy_registry, discard_backup
from skillpm.installer.disk.journal import ROLES, Journal, Put, Removal, read_inode, write_journal
from skillpm.installer.disk.late_edits import digest_path, digest_staged_skill, hash_file, hash_text
from skillpm.installer.disk.layout import InstallTarget, Layout, load_receipt
from skillpm.installer.disk.leftovers import remove_leftovers
from skillpm.installer.disk.rename import raise_if_unmovable
from skillpm.installer.disk.staging import stage_documents
from skillpm.installer.moves import execute_moves


class ChangeSet(Value):
    """Everything that a change does besides writing documents."""

    # Staged skill -> whether the folder it replaces is backed up.
    puts: Mapping[SkillName, bool] = EMPTY_MAPPING
    # Removed skill -> whether its folder is backed up.
    removals: Mapping[SkillName, bool] = EMPTY_MAPPING
    # Agent folder -> skills whose link path is occupied; what is there is backed up.
    link_backups: Mapping[str, Collection[SkillName]] = EMPTY_MAPPING
    # Agent folder -> skill -> ID of the backup that is moved back there.
    link_restores: Mapping[str, Mapping[SkillName, str]] = EMPTY_MAPPING
    # Backups that were copied to staging and are deleted at the end.
    consumed_backups: tuple[str, ...] = ()
    # Staged skill -> path of the flat file it was made from.
    flat_files: Mapping[SkillName, str] = EMPTY_MAPPING
    # Digests of staged skills, if they are known already.
    staged_digests: Mapping[SkillName, str] = EMPTY_MAPPING
    # Role -> text of the documents that the change was planned from; None if there was none.
    documents_read: Mapping[str, str | None] = EMPTY_MAPPING


def commit(target: InstallTarget, change: ChangeSet, documents: Mapping[str, str], warn: Callable[[str], None]) -> None:
    """Apply a change and write the documents.

    The caller holds the lock, and everything is staged and flushed (`FsyncQueue`). Raises `DocumentChanged`, with
    nothing changed, if a document differs from the text that the change was planned from: during a download the user
    may save the manifest or switch branches.
    """
    layout = target.layout
    for role, text in change.documents_read.items():
        _raise_if_changed(target.documents[role], hash_text(text))
    stage_documents(layout, documents, fsync=target.fsync)
    with translate_os_errors("check the folders to move", layout.directory):
        moved_paths = [layout.skill_path(name) for name in {**change.puts, **change.removals}]
        moved_paths += [
            os.path.join(target.link_folders.path(folder), name)
            for folder, skills in change.link_backups.items()
            for name in skills
        ]
        # Once the journal is written, the change must be finished. So find out now whether every folder can be moved.
        with target.hold_agent_folders(change.link_backups):
            raise_if_unmovable(layout, moved_paths)
    puts = {**dict.fromkeys(change.flat_files, False), **change.puts}
    journal = Journal(
        puts={
            name: Put(
                new_inode=read_inode(os.path.join(layout.staging, name)),
                old_inode=read_inode(layout.skill_path(name)),
                needs_backup=needs_backup,
                # Recovery compares it before it moves anything: the disk may have lost staged content in a crash.
                digest=change.staged_digests.get(name) or digest_staged_skill(layout, name),
            )
            for name, needs_backup in puts.items()
        },
        removals={
            name: Removal(old_inode=read_inode(layout.skill_path(name)), needs_backup=needs_backup)
            for name, needs_backup in change.removals.items()
        },
        documents=_hash_documents(target, documents, change.documents_read),
        link_backups={folder: tuple(sorted(names)) for folder, names in change.link_backups.items()},
        link_restores=change.link_restores,
        consumed_backups=change.consumed_backups,
        flat_files=change.flat_files,
    )
    with translate_os_errors("write the journal", layout.journal):
        if target.fsync:
            # Only the directory entries: what is inside the folders was flushed by the `FsyncQueue`.
            sync_folder(os.path.dirname(layout.staged_document_path("receipt")))
            sync_folder(layout.staging)
    try:
        write_journal(layout, journal, fsync=target.fsync)
    except OSError as error:  # it may be in place, if only its folder could not be flushed
        with translate_os_errors("write the journal", layout.journal, is_resumable=not _discard_journal(target)):
            raise error from None
    try:
        finish(target, journal, warn)
    except OSError as error:
        with translate_os_errors(
            "install", layout.directory, is_resumable=not _roll_back_if_untouched(target, journal)
        ):
            raise error from None


def finish(target: InstallTarget, journal: Journal, warn: Callable[[str], None]) -> None:
    """Do every step of a change that is not done yet. Raises `OSError`."""
    layout = target.layout
    old_receipt = load_receipt(layout)
    staged = read_text(layout.staged_document_path("receipt"))
    new_receipt = old_receipt if staged is None else read_receipt(staged, layout.staged_document_path("receipt"))
    with target.hold_agent_folders({*journal.agent_folders, *old_receipt.links, *new_receipt.links}):
        execute_moves(
            target, journal, old_receipt, new_receipt, warn, is_receipt_written=_is_receipt_written(target, journal)
        )
    # The receipt is the first role. Once it is the new one, recovery knows that all moves are done
    # (`_is_receipt_written`).
    for role in ROLES:
        if role in journal.documents and role in target.documents:
            _write_document(target, role, journal.documents[role], warn)
    if journal.flat_files:
        from skillpm.installer.disk.cleanup import remove_migrated_files  # noqa: PLC0415  (only here)

        remove_migrated_files(layout, journal.flat_files, warn)
    # Restored backups are deleted last, so that a failure of any step above loses nothing.
    for backup_id in journal.consumed_backups:
        _discard_restored_backup(layout, journal, backup_id, warn)
    if target.fsync and (journal.flat_files or journal.consumed_backups):
        sync_folder(layout.directory)
    discard_file(layout.journal)
    if target.fsync:
        try:
            sync_folder(layout.internal_dir)
        except OSError as error:
            reason = OS_ERROR_REASONS.get(error.errno or 0, str(error))
            warn(f"the change is complete, but the disk did not confirm it: {reason}; see the system log")
    with suppress(OSError):  # the change is complete, and the next command that writes retries the cleanup
        remove_leftovers(layout, warn)


def abandon_hint(layout: Layout) -> str:
    """Return how to abandon a change that cannot be finished."""
    command = layout.command("sync", "--force")
    return f"run `{command}` to abandon that change and install what the lockfile specifies"


def _roll_back_if_untouched(target: InstallTarget, journal: Journal) -> bool:
    """Delete the journal if the first move was refused and nothing was moved; return whether it is gone.

    A file system that allocates a block for each rename (btrfs with a quota) can refuse it although the journal was
    written. Without this, every later command would try to finish a change that cannot start.
    """
    layout = target.layout
    old_inodes = {name: put.old_inode for name, put in journal.puts.items()}
    old_inodes |= {name: removal.old_inode for name, removal in journal.removals.items()}
    is_untouched = (
        bool(old_inodes)  # skill folders move before everything that is not checked here, except for link backups
        and not journal.link_backups
        and all(read_inode(layout.skill_path(name)) == old_inode for name, old_inode in old_inodes.items())
        and all(read_inode(os.path.join(layout.staging, name)) == put.new_inode for name, put in journal.puts.items())
    )
    if is_untouched and _discard_journal(target):
        with suppress(OSError):
            remove_folder(layout.trash)
    return not os.path.lexists(layout.journal)


def _discard_journal(target: InstallTarget) -> bool:
    """Delete the journal of a change that has moved nothing; return whether it is gone."""
    with suppress(OSError):
        discard_file(target.layout.journal)
        if target.fsync:
            sync_folder(target.layout.internal_dir)
    return not os.path.lexists(target.layout.journal)


def _discard_restored_backup(layout: Layout, journal: Journal, backup_id: str, warn: Callable[[str], None]) -> None:
    """Delete a backup that was restored completely.

    It is kept if it was edited since, if it holds something that cannot be copied (a socket, say), or if only a planted
    journal claims that it was restored.
    """
    path = os.path.join(layout.backups, backup_id)
    put = journal.puts.get(SkillName(backup_id.rpartition("-")[0]))
    if os.path.lexists(path) and not (put and put.digest and put.digest == digest_path(path)):
        warn(f"backup {backup_id} differs from what was restored, so it is kept: {path}")
    else:
        discard_backup(layout, backup_id)


def _is_receipt_written(target: InstallTarget, journal: Journal) -> bool:
    """Return whether the receipt on disk is the new one already."""
    old_hash, new_hash = journal.documents.get("receipt", ("", ""))
    return old_hash != new_hash and hash_file(target.documents["receipt"]) == new_hash


def _write_document(target: InstallTarget, role: str, hashes: tuple[str, str], warn: Callable[[str], None]) -> None:
    """Put one document into place, unless the user changed it since the change was planned."""
    path, staged = target.documents[role], target.layout.staged_document_path(role)
    current_hash = hash_file(path)
    if current_hash == hashes[1]:
        return
    text = read_text(staged)
    if text is None or content_hash(text.encode()) != hashes[1]:
        raise FileError(f"the staged {role} is missing or damaged", where=staged, hint=abandon_hint(target.layout))
    # Receipt and registry are generated, and only skillpm writes them. Manifest and lockfile also belong to the user
    # and to git, so a newer version of them must never be overwritten.
    if role not in {"manifest", "lockfile"}:
        if role == "registry":
            back_up_legacy_registry(target.layout, warn, fsync=target.fsync)
        write_document(path, text.encode(), fsync=target.fsync)
        return
    try:
        raise_if_changed = partial(_raise_if_changed, expected_hash=hashes[0])
        raise_if_changed(path)  # now, and again right before the rename: staging the new text takes time
        boundary = target.document_boundary
        write_document(path, text.encode(), fsync=target.fsync, link_boundary=boundary, before_rename=raise_if_changed)
    except DocumentChanged:
        warn(f"{path} was changed while a command was running or interrupted; it was not updated")


def _raise_if_changed(path: str, expected_hash: str) -> None:
    if hash_file(path) != expected_hash:
        raise DocumentChanged(path)


def _hash_documents(
    target: InstallTarget, documents: Mapping[str, str], documents_read: Mapping[str, str | None]
) -> dict[str, tuple[str, str]]:
    """Return each document's hash before and after. Before: as it was read for the plan, else as it is on disk."""
    return {
        role: (
            hash_text(documents_read[role]) if role in documents_read else hash_file(target.documents[role]),
            hash_text(text),
        )
        for role, text in documents.items()
    }
