"""Carry a change out: all of it or nothing, and after a crash whoever writes next finishes it.

    staging → journal → folders → links → receipt → lockfile → manifest → registry → journal gone → trash emptied

Before the journal is written nothing visible has changed, and what is staged is rubbish. From then on every step
can be done again: a folder that has its new inode is done, a document that has its new hash is done. So `finish` is
both the way a change is carried out and the way it is recovered.
"""

import os
from collections.abc import Callable, Collection, Mapping

from skillpm.documents.digest import content_hash
from skillpm.documents.names import SkillName
from skillpm.documents.receipt import Receipt, read_receipt
from skillpm.errors import FileError
from skillpm.files import discard_file, read_text, remove_tree, sync_folder, told, write_document
from skillpm.installing.backups import keep_old_registry, set_aside, set_aside_from
from skillpm.installing.clearing import clear_away
from skillpm.installing.exchange import exchange
from skillpm.installing.journal import ROLES, Journal, Put, Removal, inode, read_journal, write_journal
from skillpm.installing.layout import Layout, load_receipt
from skillpm.installing.links import points_at, reconcile
from skillpm.installing.scan import Scan
from skillpm.installing.staging import stage_documents
from skillpm.installing.survey import look_at
from skillpm.installing.target import Target


def commit(
    target: Target,
    puts: Mapping[SkillName, bool],
    removals: Mapping[SkillName, bool],
    documents: Mapping[str, str],
    asides: Mapping[str, Collection[SkillName]],
    warn: Callable[[str], None],
) -> None:
    """Bring staged skills to their places and write the documents. The values of `puts` and `removals` say whether
    what lies there is set aside as a backup; `asides` are the same for things at links' places, by agent folder.
    Only under the lock, after everything was staged and has settled (`Settling`).
    """
    layout = target.layout
    stage_documents(layout, documents, fsync=target.fsync)
    journal = Journal(
        puts={
            name: Put(new=inode(os.path.join(layout.staging, name)), old=inode(layout.skill(name)), aside=aside)
            for name, aside in puts.items()
        },
        removals={name: Removal(old=inode(layout.skill(name)), aside=aside) for name, aside in removals.items()},
        documents=_hashes(target, documents),
        asides={folder: tuple(sorted(names)) for folder, names in asides.items()},
    )
    _begin(target, journal, warn)


def commit_flat(
    target: Target, flat: Mapping[SkillName, str], documents: Mapping[str, str], warn: Callable[[str], None]
) -> None:
    """Bring staged skills that were made of flat files to their places, write the documents, and remove the flat
    files: name -> path. Only under the lock, after everything was staged and is on the disk.
    """
    layout = target.layout
    stage_documents(layout, documents, fsync=target.fsync)
    puts = {name: Put(new=inode(os.path.join(layout.staging, name))) for name in flat}
    _begin(target, Journal(puts=puts, documents=_hashes(target, documents), flat=flat), warn)


def _begin(target: Target, journal: Journal, warn: Callable[[str], None]) -> None:
    layout = target.layout
    with told("write the journal", layout.journal):
        if target.fsync:
            sync_folder(layout.staging)  # the names in it; what is in the folders has settled
        write_journal(layout, journal, fsync=target.fsync)
    finish(target, journal, warn)


def recover(target: Target, warn: Callable[[str], None]) -> bool:
    """Finish a change that was interrupted; tell whether there was one. Only under the lock."""
    journal = read_journal(target.layout)
    if journal is None:
        return False
    finish(target, journal, warn)
    return True


def finish(target: Target, journal: Journal, warn: Callable[[str], None]) -> None:
    """Do whatever of a change is not done yet."""
    layout = target.layout
    before = load_receipt(layout)
    staged = read_text(layout.staged_document("receipt"))
    after = before if staged is None else read_receipt(staged, layout.staged_document("receipt"))
    with told("install", layout.directory):
        os.makedirs(layout.trash, exist_ok=True)
        for folder, names in journal.asides.items():
            for name in names:
                _set_link_aside(target, folder, name, warn)
        for name, put in journal.puts.items():
            _put(layout, name, put, before, warn)
        for name, removal in journal.removals.items():
            if removal.old and inode(layout.skill(name)) == removal.old:
                _take_away(layout, name, before, warn, aside=removal.aside)
        if target.fsync:
            sync_folder(layout.directory)
        reconcile(target.links, before, after, layout, warn)
        for role in ROLES:
            if role in journal.documents and role in target.documents:
                _write(target, role, journal.documents[role], warn)
        clear_away(layout, journal.flat, warn)
        discard_file(layout.journal)
        if target.fsync:
            sync_folder(layout.ours)
        remove_tree(layout.staging)
        remove_tree(layout.trash)


def _put(layout: Layout, name: SkillName, put: Put, before: Receipt, warn: Callable[[str], None]) -> None:
    """Bring one folder to its place; what was there goes to the trash, or is set aside when it is anybody's work."""
    staged, place = os.path.join(layout.staging, name), layout.skill(name)
    there = inode(place)
    if there == put.new:
        return
    if inode(staged) != put.new:
        raise FileError(f"the staged folder of {name} is gone", where=staged, hint="run `skillpm sync --force`")
    if there and (put.aside or _is_somebodys(layout, name, before)):
        _set_aside(layout, name, warn)
    elif there and not exchange(staged, place):
        os.rename(place, _free(layout.trash, name))
    if inode(staged) == put.new:
        os.rename(staged, place)


def _take_away(layout: Layout, name: SkillName, before: Receipt, warn: Callable[[str], None], *, aside: bool) -> None:
    if aside or _is_somebodys(layout, name, before):
        _set_aside(layout, name, warn)
    else:
        os.rename(layout.skill(name), _free(layout.trash, name))


def _is_somebodys(layout: Layout, name: SkillName, before: Receipt) -> bool:
    """Tell whether a folder holds something that was not installed: it may have been edited this very moment.

    Of files whose every byte is as it was, only the modes differ: there is nothing to lose.
    """
    installed = before.skills.get(name)
    found = look_at(layout.skill(name), name, installed, Scan())
    is_other = installed is None or installed.digest is None or found.digest != installed.digest
    return found.kind in {"edited", "foreign"} and is_other


def _set_link_aside(target: Target, folder: str, name: SkillName, warn: Callable[[str], None]) -> None:
    """Set aside what lies at a link's place, unless it is (by now) our link."""
    path = os.path.join(target.links.path(folder), name)
    if os.path.lexists(path) and not points_at(path, target.layout.skill(name)):
        slot = set_aside_from(target.layout, name, path, folder)
        warn(f"what lay at {path} is kept as backup {slot}: `skillpm backup restore {slot}` brings it back there")


def _set_aside(layout: Layout, name: SkillName, warn: Callable[[str], None]) -> None:
    slot = set_aside(layout, name)
    warn(f"what lay at {name} is kept as backup {slot}: `skillpm backup restore {slot}` brings it back")


def _free(folder: str, name: str) -> str:
    number = 1
    while os.path.lexists(path := os.path.join(folder, f"{name}-{number}")):
        number += 1
    return path


def _write(target: Target, role: str, hashes: tuple[str, str], warn: Callable[[str], None]) -> None:
    """Bring one document to its place, unless a person changed it since the change was decided."""
    path, staged = target.documents[role], target.layout.staged_document(role)
    there = _hash_of(read_text(path))
    if there == hashes[1]:
        return
    text = read_text(staged)
    if text is None or content_hash(text.encode()) != hashes[1]:
        raise FileError(f"the staged {role} is gone or damaged", where=staged, hint="run `skillpm sync --force`")
    if role in {"manifest", "lockfile"} and there != hashes[0]:
        warn(f"{path} was changed while a command was interrupted; it is left as it is")
        return
    if role == "registry":
        keep_old_registry(target.layout, warn, fsync=target.fsync)
    write_document(path, text.encode(), fsync=target.fsync, follow=role in {"manifest", "lockfile"})


def _hashes(target: Target, documents: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Give each document's hash as it is and as it will be."""
    return {
        role: (_hash_of(read_text(target.documents[role])), content_hash(text.encode()))
        for role, text in documents.items()
    }


def _hash_of(text: str | None) -> str:
    return "" if text is None else content_hash(text.encode())
