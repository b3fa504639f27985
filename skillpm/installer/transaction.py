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
from skillpm.core.values import NOTHING, Value
from skillpm.errors import DocumentMoved, FileError
from skillpm.files import REASONS, discard_file, read_text, sync_folder, told, write_document
from skillpm.formats.receipt import read_receipt
from skillpm.installer.backups import forget, keep_old_registry
from skillpm.installer.fingerprints import digest_of_thing, hash_of_file, hash_of_text, staged_digest
from skillpm.installer.journal import ROLES, Journal, Put, Removal, inode, write_journal
from skillpm.installer.layout import Layout, load_receipt
from skillpm.installer.leftovers import empty
from skillpm.installer.migration.cleanup import clear_away
from skillpm.installer.moves import move_everything
from skillpm.installer.rename import refuse_unmovable
from skillpm.installer.staging import stage_documents
from skillpm.installer.target import Target

GIVE_UP = "`skillpm sync --force` gives that change up and makes the state of the lockfile"


class Change(Value):
    """What is to happen besides the documents. The values of `puts` (staged skills) and `removals` say whether what
    lies there is set aside as a backup; `asides` are the same for things at links' places, by agent folder. `returns`
    are backups that go back into agent folders, `spent` those that were staged; `flat` are flat files that staged
    skills were made of: name -> path. `digests` are those of what is staged, where they are known already. `read`
    are texts of documents that all this was decided by: role -> text, None where there was none.
    """

    puts: Mapping[SkillName, bool] = NOTHING
    removals: Mapping[SkillName, bool] = NOTHING
    asides: Mapping[str, Collection[SkillName]] = NOTHING
    returns: Mapping[str, Mapping[SkillName, str]] = NOTHING
    spent: tuple[str, ...] = ()
    flat: Mapping[SkillName, str] = NOTHING
    digests: Mapping[SkillName, str] = NOTHING
    read: Mapping[str, str | None] = NOTHING


def commit(target: Target, change: Change, documents: Mapping[str, str], warn: Callable[[str], None]) -> None:
    """Carry a change out, and write the documents. Only under the lock, after everything was staged and has settled
    (`Settling`).

    Raises `DocumentMoved`, with nothing changed, where a document is not what it was decided by: a download takes long
    enough for somebody to save his manifest, or to change the branch.
    """
    layout = target.layout
    for role, text in change.read.items():
        _refuse_moved(target.documents[role], hash_of_text(text))
    stage_documents(layout, documents, fsync=target.fsync)
    with told("look at what is to be moved", layout.directory):
        moved = [layout.skill(name) for name in {**change.puts, **change.removals}]
        moved += [os.path.join(target.links.path(folder), name) for folder, of in change.asides.items() for name in of]
        refuse_unmovable(layout, moved)
    puts = {**dict.fromkeys(change.flat, False), **change.puts}
    journal = Journal(
        puts={
            name: Put(
                new=inode(os.path.join(layout.staging, name)),
                old=inode(layout.skill(name)),
                aside=aside,
                digest=change.digests.get(name) or staged_digest(layout, name),
            )
            for name, aside in puts.items()
        },
        removals={name: Removal(old=inode(layout.skill(name)), aside=aside) for name, aside in change.removals.items()},
        documents=_hashes(target, documents, change.read),
        asides={folder: tuple(sorted(names)) for folder, names in change.asides.items()},
        returns=change.returns,
        spent=change.spent,
        flat=change.flat,
        staging=inode(layout.staging),
    )
    with told("write the journal", layout.journal):
        if target.fsync:
            # The names in them; what is in the folders has settled.
            sync_folder(os.path.dirname(layout.staged_document("receipt")))
            sync_folder(layout.staging)
        write_journal(layout, journal, fsync=target.fsync)
    try:
        finish(target, journal, warn)
    except OSError as error:
        with told("install", layout.directory, begun=not _taken_back(target, journal)):
            raise error from None


def finish(target: Target, journal: Journal, warn: Callable[[str], None]) -> None:
    """Do whatever of a change is not done yet. Raises `OSError`."""
    layout = target.layout
    before = load_receipt(layout)
    staged = read_text(layout.staged_document("receipt"))
    after = before if staged is None else read_receipt(staged, layout.staged_document("receipt"))
    move_everything(target, journal, before, after, warn, is_told=_is_told(target, journal))
    for role in ROLES:
        if role in journal.documents and role in target.documents:
            _write(target, role, journal.documents[role], warn)
    clear_away(layout, journal.flat, warn)
    for slot in journal.spent:
        _spend(layout, journal, slot, warn)
    if target.fsync and (journal.flat or journal.spent):
        sync_folder(layout.directory)
    discard_file(layout.journal)
    if target.fsync:
        try:
            sync_folder(layout.ours)
        except OSError as error:
            reason = REASONS.get(error.errno or 0, str(error))
            warn(f"all is done, but the disk did not confirm it: {reason}; the system's log says more")
    with suppress(OSError):  # all is done; the next command that writes takes away what is left
        empty(layout, warn)


def _taken_back(target: Target, journal: Journal) -> bool:
    """Take back a change of which nothing was done, since its first move was refused; tell whether it was so."""
    layout = target.layout
    olds = {name: put.old for name, put in journal.puts.items()}
    olds |= {name: removal.old for name, removal in journal.removals.items()}
    is_untouched = (
        bool(olds)  # folders of skills move before all that this does not look at, but for what is set aside
        and not journal.asides
        and all(inode(layout.skill(name)) == old for name, old in olds.items())
        and all(inode(os.path.join(layout.staging, name)) == put.new for name, put in journal.puts.items())
    )
    with suppress(OSError):
        if is_untouched:
            discard_file(layout.journal)
            if target.fsync:
                sync_folder(layout.ours)
            os.rmdir(layout.trash)
    return not os.path.lexists(layout.journal)


def _spend(layout: Layout, journal: Journal, slot: str, warn: Callable[[str], None]) -> None:
    """Remove a backup whose every byte was brought back. One that somebody edited since, or that holds what cannot be
    copied, stays, and so does one of which a planted journal only says so.
    """
    kept = os.path.join(layout.backup, slot)
    put = journal.puts.get(SkillName(slot.rpartition("-")[0]))
    if os.path.lexists(kept) and not (put and put.digest and put.digest == digest_of_thing(kept)):
        warn(f"backup {slot} holds other things than what was brought back; it stays: {kept}")
    else:
        forget(layout, slot)


def _is_told(target: Target, journal: Journal) -> bool:
    """Tell whether the receipt was written already: what it says is not what left its place, then."""
    old, new = journal.documents.get("receipt", ("", ""))
    return old != new and hash_of_file(target.documents["receipt"]) == new


def _write(target: Target, role: str, hashes: tuple[str, str], warn: Callable[[str], None]) -> None:
    """Bring one document to its place, unless a person changed it since the change was decided."""
    path, staged = target.documents[role], target.layout.staged_document(role)
    there = hash_of_file(path)
    if there == hashes[1]:
        return
    text = read_text(staged)
    if text is None or content_hash(text.encode()) != hashes[1]:
        raise FileError(f"the staged {role} is gone or damaged", where=staged, hint=GIVE_UP)
    if role not in {"manifest", "lockfile"}:
        if role == "registry":
            keep_old_registry(target.layout, warn, fsync=target.fsync)
        write_document(path, text.encode(), fsync=target.fsync)
        return
    try:
        refuse_moved = partial(_refuse_moved, path, hashes[0])
        refuse_moved()
        write_document(path, text.encode(), fsync=target.fsync, follow=True, at_last=refuse_moved)
    except DocumentMoved:
        warn(f"{path} was changed while a command was at work or interrupted; it is left as it is")


def _refuse_moved(path: str, known: str) -> None:
    if hash_of_file(path) != known:
        raise DocumentMoved(path)


def _hashes(target: Target, documents: Mapping[str, str], read: Mapping[str, str | None]) -> dict[str, tuple[str, str]]:
    """Give each document's hash as it is, or was when it was read, and as it will be."""
    return {
        role: (
            hash_of_text(read[role]) if role in read else hash_of_file(target.documents[role]),
            hash_of_text(text),
        )
        for role, text in documents.items()
    }
