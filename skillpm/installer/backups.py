"""What was set aside, under `.skillpm/backup/<name>-<n>`, kept until somebody deletes it.

Whole folders that `--force` put out of the way, and `skills.json-<n>`: a registry that somebody wrote by hand. A folder
that lay in an agent host's has a line beside it, `<name>-<n>.from`, that names that place as a receipt does.
"""

import os
from collections.abc import Callable

from skillpm.core.decoder import dump_json, parse_json
from skillpm.core.names import is_skill_name
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.files import discard_file, read_regular_file, read_text, remove_tree, sync_folder, write_document
from skillpm.formats.legacy_metadata import LegacyMetadata, legacy_metadata_value, read_legacy_metadata
from skillpm.formats.legacy_registry import is_generated
from skillpm.installer.layout import Layout
from skillpm.installer.rename import move_path


def write_backup_metadata(layout: Layout, backup_id: str, metadata: LegacyMetadata | None) -> None:
    """Keep what was told of a skill beside the backup that it becomes; nothing where nothing was."""
    if metadata is None:
        discard_file(_metadata_path(layout, backup_id))  # of a command that was killed before it moved the folder
    else:
        write_document(
            _metadata_path(layout, backup_id), dump_json(legacy_metadata_value(metadata)).encode(), fsync=True
        )


def read_backup_metadata(layout: Layout, backup_id: str) -> LegacyMetadata | None:
    """Give what was kept beside a backup; nothing where nothing was, or where it cannot be read."""
    path = _metadata_path(layout, backup_id)
    try:
        text = read_text(path)
        return None if text is None else read_legacy_metadata(parse_json(text, path))
    except DocumentError:
        return None


def discard_backup_metadata(layout: Layout, backup_id: str) -> None:
    """Remove what was kept beside a backup."""
    discard_file(_metadata_path(layout, backup_id))


def _metadata_path(layout: Layout, backup_id: str) -> str:
    return os.path.join(layout.backups, f"{backup_id}.told")


REGISTRY_NAME = "skills.json"
HEADER_LENGTH = 1000


class Backup(Value):
    """One thing set aside: its id, whose it was, where it lies; `origin` is the agent folder it lay in, if any."""

    id: str
    name: str
    path: str
    origin: str = ""


def create_backup(layout: Layout, name: str, path: str, metadata: LegacyMetadata | None) -> str:
    """Move a skill's folder, wherever it is, to the next free backup, with what was told of it; give its id."""
    os.makedirs(layout.backups, exist_ok=True)
    slot = next_backup_id(layout, name)
    write_backup_metadata(layout, slot, metadata)
    move_path(path, os.path.join(layout.backups, slot))
    return slot


def create_agent_backup(layout: Layout, name: str, path: str, origin: str, *, fsync: bool) -> str:
    """Move what lies at a link's place in an agent folder to the next free backup; give its id."""
    os.makedirs(layout.backups, exist_ok=True)
    slot = next_backup_id(layout, name, origin)
    # First the line: a backup that does not know where it lay would come back at the wrong place.
    write_document(_origin_path(layout, slot), f"{origin}\n".encode(), fsync=fsync)
    move_path(path, os.path.join(layout.backups, slot))
    return slot


def restore_backup(layout: Layout, backup_id: str, path: str) -> None:
    """Move a backup to where it lay in an agent folder, where nothing lies now."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    move_path(os.path.join(layout.backups, backup_id), path)


def discard_backup(layout: Layout, backup_id: str) -> None:
    """Remove what is left of a backup that was restored, and the folder of backups when it was the last."""
    kept = os.path.join(layout.backups, backup_id)
    if os.path.lexists(kept):
        # Nobody who lists the backups sees half of one; trash is emptied at the end of every change.
        gone = os.path.join(layout.trash, f"{backup_id}.spent")
        remove_tree(gone)
        move_path(kept, gone)
    discard_file(_origin_path(layout, backup_id))
    discard_backup_metadata(layout, backup_id)
    try:
        os.rmdir(layout.backups)
    except OSError:
        return


def next_backup_id(layout: Layout, name: str, origin: str = "") -> str:
    """Give the id that the next backup of a skill will have. A line that a killed command wrote for the same `origin`
    waits for its folder.
    """
    number = 1
    while True:
        slot = f"{name}-{number}"
        line = read_text(_origin_path(layout, slot))
        if not os.path.lexists(os.path.join(layout.backups, slot)) and (line is None or line.strip() == origin != ""):
            return slot
        number += 1


def _origin_path(layout: Layout, backup_id: str) -> str:
    return os.path.join(layout.backups, f"{backup_id}.from")


def list_backups(layout: Layout) -> list[Backup]:
    """List what was set aside, by name and number."""
    try:
        names = os.listdir(layout.backups)
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for slot in names:
        name, _, number = slot.rpartition("-")
        if (is_skill_name(name) or name == REGISTRY_NAME) and number.isascii() and number.isdigit():
            found.append((name, int(number), slot))
    return [
        Backup(
            id=slot,
            name=name,
            path=os.path.join(layout.backups, slot),
            origin=(read_text(_origin_path(layout, slot)) or "").strip(),
        )
        for name, _, slot in sorted(found)
    ]


def back_up_legacy_registry(layout: Layout, warn: Callable[[str], None], *, fsync: bool) -> None:
    """Keep a registry that somebody wrote by hand before it is replaced, once; `migrate` reads it there."""
    try:
        data = read_regular_file(layout.registry)
    except FileNotFoundError:
        return
    if is_generated(data[:HEADER_LENGTH].decode("utf-8", "replace")):
        return
    kept = _list_registry_backups(layout)
    if kept and read_regular_file(os.path.join(layout.backups, kept[0])) == data:
        return
    os.makedirs(layout.backups, exist_ok=True)
    slot = next_backup_id(layout, REGISTRY_NAME)
    write_document(os.path.join(layout.backups, slot), data, fsync=fsync)
    if fsync:
        sync_folder(layout.internal_dir)
    if _is_json(layout, slot):
        what_then = "`skillpm migrate` brings what it says into the registry"
        warn(f"the hand-made skills.json is kept as backup {slot}; {what_then}")
    else:
        warn(f"the skills.json that could not be read is kept as backup {slot}; it is written anew")


def find_latest_registry_backup(layout: Layout) -> str:
    """Give the id of the newest hand-made registry that was kept and can be read; empty where there is none."""
    return next((slot for slot in _list_registry_backups(layout) if _is_json(layout, slot)), "")


def _list_registry_backups(layout: Layout) -> list[str]:
    return [backup.id for backup in reversed(list_backups(layout)) if backup.name == REGISTRY_NAME]


def _is_json(layout: Layout, backup_id: str) -> bool:
    path = os.path.join(layout.backups, backup_id)
    try:
        parse_json(read_regular_file(path).decode().removeprefix("\ufeff"), path)
    except (DocumentError, OSError, UnicodeError):
        return False
    return True
