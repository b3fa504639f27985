"""Rescue edits that the user makes while a change is running.

Skills are checked for edits when the change is planned, but between that check and the rename, which a download can
delay by minutes, an editor may save a file. So every folder that was moved out of place is checked once more: if it
differs from what was installed, it becomes a backup instead of trash (ADR 4).
"""

import codecs
import os
from collections.abc import Callable, Iterator

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName, is_skill_name
from skillpm.errors import DocumentError
from skillpm.files import read_regular_file, read_text
from skillpm.formats.receipt import InstalledSkill, Receipt, read_receipt
from skillpm.installer.disk.backups import create_agent_backup, create_backup, describe_entry, read_link_target
from skillpm.installer.disk.disk_state import digest_folder, read_installed_state
from skillpm.installer.disk.journal import Journal, read_inode, read_journal
from skillpm.installer.disk.layout import InstallTarget, Layout, load_receipt
from skillpm.installer.disk.stat_cache import StatCache


def back_up_skill(
    layout: Layout, name: SkillName, path: str, old_receipt: Receipt, warn: Callable[[str], None]
) -> None:
    """Move a skill folder at `path` to a backup, and warn."""
    backup_id = create_backup(layout, name, path, old_receipt.inherited.get(name), old_receipt.skills.get(name))
    command = layout.command("backup restore", backup_id)
    warn(f"backed up your version of {name} as {backup_id}; restore it with `{command}`")


def back_up_agent_entry(
    target: InstallTarget, folder: str, name: SkillName, path: str, warn: Callable[[str], None]
) -> None:
    """Move what occupies a link's path in an agent folder (now at `path`) to a backup, and warn."""
    place = os.path.join(target.link_folders.path(folder), name)
    entry = describe_entry(path, place)
    keep = ": keep that folder" if os.path.isdir(read_link_target(path, place)) else ""
    backup_id = create_agent_backup(target.layout, name, path, folder, fsync=target.fsync)
    command = target.layout.command("backup restore", backup_id)
    warn(f"backed up {entry} as {backup_id}{keep}; restore it with `{command}`")


def back_up_late_edits(layout: Layout, journal: Journal, old_receipt: Receipt, warn: Callable[[str], None]) -> None:
    """Back up every replaced or removed folder that differs from what was installed.

    This works only after the folder left its place: before that, any file may be saved again right after it was
    checked.
    """
    names = {*journal.puts, *journal.removals}
    for name, path in [*_find_displaced(layout, journal)]:
        if name in names and _has_local_changes(path, name, old_receipt.skills.get(name)):
            back_up_skill(layout, name, path, old_receipt, warn)


def back_up_abandoned_change(layout: Layout, warn: Callable[[str], None]) -> None:
    """Back up local work among the folders that an abandoned change moved out of place.

    A folder that matches either the old or the new receipt is not local work.
    """
    # It is unknown which steps were done, so a folder may be the old or the new state of its skill.
    before, after = _receipt_or_empty(layout, staged=False), _receipt_or_empty(layout, staged=True)
    try:
        journal = read_journal(layout)
    except DocumentError:
        journal = None
    for name, path in [*_find_displaced(layout, journal)]:
        new = after.skills.get(name)
        is_new = new is not None and not _has_local_changes(path, name, new)
        if not is_new and _has_local_changes(path, name, before.skills.get(name)):
            back_up_skill(layout, name, path, before, warn)


def _find_displaced(layout: Layout, journal: Journal | None) -> Iterator[tuple[SkillName, str]]:
    """Yield the skill folders in staging and trash that were in place before.

    A swapped folder ends up in staging under its skill's name, where its inode distinguishes it from a new one that
    still waits.
    """
    for entry in _list_names(layout.staging):
        path = os.path.join(layout.staging, entry)
        put = None if journal is None else journal.puts.get(SkillName(entry))
        if is_skill_name(entry) and (put is None or read_inode(path) != put.new_inode):
            yield SkillName(entry), path
    for entry in _list_names(layout.trash):
        name = entry.rpartition("-")[0]
        if is_skill_name(name):
            yield SkillName(name), os.path.join(layout.trash, entry)


def _list_names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _receipt_or_empty(layout: Layout, *, staged: bool) -> Receipt:
    """Return the staged or the current receipt, or an empty one if it is unreadable: then everything is treated as
    local work.
    """
    path = layout.staged_document_path("receipt")
    try:
        text = read_text(path) if staged else None
        return load_receipt(layout) if not staged else Receipt() if text is None else read_receipt(text, path)
    except DocumentError:
        return Receipt()


def _has_local_changes(path: str, name: SkillName, installed: InstalledSkill | None) -> bool:
    """Return whether a folder holds anything that was not installed.

    If every byte is as installed, only the modes differ, and there is nothing to lose (ADR 12).
    """
    state = read_installed_state(path, name, installed, StatCache())
    is_different = installed is None or installed.digest is None or state.digest != installed.digest
    return state.kind in {"edited", "foreign"} and is_different


def digest_staged_skill(layout: Layout, name: SkillName) -> str:
    """Return the digest of a staged skill."""
    return digest_path(os.path.join(layout.staging, name))


def digest_path(path: str) -> str:
    """Return the digest of a folder, link or file; empty if it is none of these or missing."""
    if os.path.islink(path):
        return content_hash(b"link:" + os.fsencode(os.readlink(path)))
    if os.path.isdir(path):
        return digest_folder(path, None)
    return content_hash(read_regular_file(path)) if os.path.isfile(path) else ""


def hash_text(text: str | None) -> str:
    """Return the SHA-256 of a document's text (UTF-8); empty for None."""
    return "" if text is None else content_hash(text.encode())


def hash_file(path: str) -> str:
    """Return the SHA-256 of a document on disk as `read_text` reads it; empty if it is missing."""
    try:
        return content_hash(read_regular_file(path).removeprefix(codecs.BOM_UTF8))
    except (FileNotFoundError, NotADirectoryError):
        return ""
