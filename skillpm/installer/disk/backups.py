"""Backups of local work, in `.skillpm/backup/<name>-<n>`, kept until the user deletes them.

A backup is a skill folder that `--force` replaced, or `skills.json-<n>`, a registry that another tool or a person
wrote. If a folder comes from an agent host's folder, `<name>-<n>.from` beside it names that folder the way a receipt
does (one line of text).
"""

import os
from collections.abc import Callable

from skillpm.core.json_text.decoder import dump_json, parse_json
from skillpm.core.limits import MAX_DOCUMENT_SIZE
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.directories import make_folders, remove_folder
from skillpm.errors import DocumentError
from skillpm.files import discard_file, read_regular_file, read_text, remove_tree, sync_folder, write_document
from skillpm.formats.legacy_metadata import LegacyMetadata, legacy_metadata_value, read_legacy_metadata
from skillpm.formats.lockfile import LockedSkill, Lockfile, read_lockfile, write_lockfile
from skillpm.formats.receipt import InstalledSkill
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.rename import move_path


def write_backup_metadata(layout: Layout, backup_id: str, metadata: LegacyMetadata | None) -> None:
    """Store the legacy metadata of a skill beside its backup; None removes it."""
    if metadata is None:
        discard_file(_metadata_path(layout, backup_id))  # left by a command killed before it moved the folder
    else:
        write_document(
            _metadata_path(layout, backup_id), dump_json(legacy_metadata_value(metadata)).encode(), fsync=True
        )


def read_backup_metadata(layout: Layout, backup_id: str) -> LegacyMetadata | None:
    """Return the legacy metadata stored beside a backup, or None if there is none or it is unreadable."""
    path = _metadata_path(layout, backup_id)
    try:
        text = read_text(path)
        return None if text is None else read_legacy_metadata(parse_json(text, path))
    except DocumentError:
        return None


def discard_backup_metadata(layout: Layout, backup_id: str) -> None:
    """Remove the legacy metadata stored beside a backup."""
    discard_file(_metadata_path(layout, backup_id))


def _metadata_path(layout: Layout, backup_id: str) -> str:
    return os.path.join(layout.backups, f"{backup_id}.told")


def write_backup_base(layout: Layout, backup_id: str, installed: InstalledSkill | None) -> None:
    """Store what was installed where a backup was made, as a lockfile of one skill; None removes it."""
    path, name = _base_path(layout, backup_id), SkillName(backup_id.rpartition("-")[0])
    if installed is None or installed.digest is None:
        discard_file(path)
        return
    skill = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    write_document(path, write_lockfile(Lockfile(skills={name: skill})).encode(), fsync=True)


def read_backup_base(layout: Layout, backup_id: str) -> LockedSkill | None:
    """Return what was installed where a backup was made; None if that is unknown."""
    path = _base_path(layout, backup_id)
    try:
        text = read_text(path)
        skills = {} if text is None else read_lockfile(text, path).skills
    except DocumentError:
        return None
    return skills.get(SkillName(backup_id.rpartition("-")[0]))


def _base_path(layout: Layout, backup_id: str) -> str:
    return os.path.join(layout.backups, f"{backup_id}.base")


REGISTRY_NAME = "skills.json"
HEADER_LENGTH = 1000


class Backup(Value):
    """One backup."""

    # `<name>-<n>`, as `skillpm backup restore` takes it.
    id: str
    # The skill's name, or `skills.json`.
    name: str
    path: str
    # The agent folder it comes from, as a receipt names it; empty if it comes from the skills directory.
    origin: str = ""


def create_backup(
    layout: Layout, name: str, path: str, metadata: LegacyMetadata | None, installed: InstalledSkill | None
) -> str:
    """Move a skill folder from `path` to the next free backup ID, and return the ID.

    Its metadata, and what was installed there, are stored beside it.
    """
    make_folders(layout.backups)
    backup_id = next_backup_id(layout, name)
    write_backup_metadata(layout, backup_id, metadata)
    write_backup_base(layout, backup_id, installed)
    move_path(path, os.path.join(layout.backups, backup_id))
    return backup_id


def create_agent_backup(layout: Layout, name: str, path: str, origin: str, *, fsync: bool) -> str:
    """Move what is at `path` in the agent folder `origin` to the next free backup ID, and return the ID."""
    make_folders(layout.backups)
    backup_id = next_backup_id(layout, name, origin)
    # The origin comes first: a crash in between must not leave a backup that would be restored to the wrong place.
    write_document(_origin_path(layout, backup_id), f"{origin}\n".encode(), fsync=fsync)
    move_path(path, os.path.join(layout.backups, backup_id))
    return backup_id


def read_link_target(path: str, place: str) -> str:
    """Return where a link, which is at `path` now and was made at `place`, leads to; empty for anything but a link."""
    try:
        return os.path.realpath(os.path.join(os.path.dirname(place), os.readlink(path)))
    except OSError:
        return ""


def describe_entry(path: str, place: str) -> str:
    """Describe what a backup has of `place`, and is at `path` now: of a link, only the link."""
    target = read_link_target(path, place)
    return f"the link {place}, which leads to {sanitize(target, 1000)}," if target else place


def restore_backup(layout: Layout, backup_id: str, path: str) -> None:
    """Move a backup to `path` in an agent folder. The path must be free."""
    make_folders(os.path.dirname(path))
    move_path(os.path.join(layout.backups, backup_id), path)


def discard_backup(layout: Layout, backup_id: str) -> None:
    """Remove what remains of a restored backup, and the backup folder if it is empty."""
    path = os.path.join(layout.backups, backup_id)
    if os.path.lexists(path):
        # Rename first, so that `backup list` never shows a half-deleted backup. The trash is emptied at the end of
        # every change.
        trash_path = os.path.join(layout.trash, f"{backup_id}.spent")
        remove_tree(trash_path)
        move_path(path, trash_path)
    discard_file(_origin_path(layout, backup_id))
    discard_backup_metadata(layout, backup_id)
    discard_file(_base_path(layout, backup_id))
    try:
        remove_folder(layout.backups)
    except OSError:
        return


def next_backup_id(layout: Layout, name: str, origin: str = "") -> str:
    """Return the ID of the next backup of a skill.

    A number with a `.from` file but no folder is free for the same `origin`: the command that wrote it was killed
    before it moved the folder, and its retry must get the same ID.
    """
    number = 1
    while True:
        backup_id = f"{name}-{number}"
        line = read_text(_origin_path(layout, backup_id))
        if not os.path.lexists(os.path.join(layout.backups, backup_id)) and (
            line is None or line.strip() == origin != ""
        ):
            return backup_id
        number += 1


def _origin_path(layout: Layout, backup_id: str) -> str:
    return os.path.join(layout.backups, f"{backup_id}.from")


def list_backups(layout: Layout) -> list[Backup]:
    """Return the backups, sorted by name and number."""
    try:
        names = os.listdir(layout.backups)
    except (FileNotFoundError, NotADirectoryError):
        return []
    backups = []
    for backup_id in names:
        name, _, number = backup_id.rpartition("-")
        if (is_skill_name(name) or name == REGISTRY_NAME) and number.isascii() and number.isdigit():
            backups.append((name, int(number), backup_id))
    return [
        Backup(
            id=backup_id,
            name=name,
            path=os.path.join(layout.backups, backup_id),
            origin=(read_text(_origin_path(layout, backup_id)) or "").strip(),
        )
        for name, _, backup_id in sorted(backups)
    ]


def back_up_legacy_registry(layout: Layout, warn: Callable[[str], None], *, fsync: bool) -> None:
    """Copy a registry that skillpm did not write to a backup before it is replaced; `migrate` reads it from there.

    The same content is backed up only once.
    """
    try:
        data = read_regular_file(layout.registry, MAX_DOCUMENT_SIZE)
    except FileNotFoundError:
        return
    from skillpm.formats.legacy_registry import is_generated  # noqa: PLC0415  (not for a new directory)

    if is_generated(data[:HEADER_LENGTH].decode("utf-8", "replace")):
        return
    backup_ids = _list_registry_backups(layout)
    if backup_ids and read_regular_file(os.path.join(layout.backups, backup_ids[0])) == data:
        return
    make_folders(layout.backups)
    backup_id = next_backup_id(layout, REGISTRY_NAME)
    write_document(os.path.join(layout.backups, backup_id), data, fsync=fsync)
    if fsync:
        sync_folder(layout.internal_dir)
    if _is_json(layout, backup_id):
        migrate = layout.command("migrate")
        warn(f"backed up the existing skills.json as {backup_id}; run `{migrate}` to import its entries")
    else:
        warn(f"backed up the unreadable skills.json as {backup_id} and created a new one")


def find_latest_registry_backup(layout: Layout) -> str:
    """Return the ID of the newest readable backup of a registry, or an empty string."""
    return next((backup_id for backup_id in _list_registry_backups(layout) if _is_json(layout, backup_id)), "")


def _list_registry_backups(layout: Layout) -> list[str]:
    return [backup.id for backup in reversed(list_backups(layout)) if backup.name == REGISTRY_NAME]


def _is_json(layout: Layout, backup_id: str) -> bool:
    path = os.path.join(layout.backups, backup_id)
    try:
        parse_json(read_regular_file(path).decode().removeprefix("\ufeff"), path)
    except (DocumentError, OSError, UnicodeError):
        return False
    return True
