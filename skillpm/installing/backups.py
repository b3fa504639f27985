"""What was set aside, under `.skillpm/backup/<name>-<n>`, kept until somebody deletes it.

Whole folders that `--force` put out of the way, and `skills.json-<n>`: a registry that somebody wrote by hand. A folder
that lay in an agent host's has a line beside it, `<name>-<n>.from`, that names that place as a receipt does.
"""

import os
from collections.abc import Callable

from skillpm.documents.names import is_skill_name
from skillpm.documents.old_registry import is_generated
from skillpm.files import discard_file, read_document, read_text, remove_tree, sync_folder, write_document
from skillpm.installing.layout import Layout
from skillpm.values import Value

REGISTRY = "skills.json"
HEAD = 1000


class Backup(Value):
    """One thing set aside: its id, whose it was, where it lies; `origin` is the agent folder it lay in, if any."""

    id: str
    name: str
    path: str
    origin: str = ""


def set_aside(layout: Layout, name: str) -> str:
    """Move a skill's folder to the next free backup; give its id."""
    os.makedirs(layout.backup, exist_ok=True)
    slot = next_slot(layout, name)
    os.rename(layout.skill(name), os.path.join(layout.backup, slot))
    return slot


def set_aside_from(layout: Layout, name: str, path: str, origin: str) -> str:
    """Move what lies at a link's place in an agent folder to the next free backup; give its id."""
    os.makedirs(layout.backup, exist_ok=True)
    slot = next_slot(layout, name)
    # First the line: a backup that does not know where it lay would come back at the wrong place.
    write_document(_origin_path(layout, slot), f"{origin}\n".encode(), fsync=False)
    os.rename(path, os.path.join(layout.backup, slot))
    return slot


def forget(layout: Layout, backup: Backup) -> None:
    """Remove what is left of a backup that was restored, and the folder of backups when it was the last."""
    remove_tree(backup.path)
    discard_file(_origin_path(layout, backup.id))
    try:
        os.rmdir(layout.backup)
    except OSError:
        return


def next_slot(layout: Layout, name: str) -> str:
    """Give the id that the next backup of a skill will have."""
    number = 1
    while any(
        os.path.lexists(path)
        for path in (os.path.join(layout.backup, f"{name}-{number}"), _origin_path(layout, f"{name}-{number}"))
    ):
        number += 1
    return f"{name}-{number}"


def _origin_path(layout: Layout, slot: str) -> str:
    return os.path.join(layout.backup, f"{slot}.from")


def backups(layout: Layout) -> list[Backup]:
    """List what was set aside, by name and number."""
    try:
        names = os.listdir(layout.backup)
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for slot in names:
        name, _, number = slot.rpartition("-")
        if (is_skill_name(name) or name == REGISTRY) and number.isascii() and number.isdigit():
            found.append((name, int(number), slot))
    return [
        Backup(
            id=slot,
            name=name,
            path=os.path.join(layout.backup, slot),
            origin=(read_text(_origin_path(layout, slot)) or "").strip(),
        )
        for name, _, slot in sorted(found)
    ]


def keep_old_registry(layout: Layout, warn: Callable[[str], None], *, fsync: bool) -> None:
    """Keep a registry that somebody wrote by hand before it is replaced, once; `migrate` reads it there."""
    try:
        data = read_document(layout.registry)
    except FileNotFoundError:
        return
    if is_generated(data[:HEAD].decode("utf-8", "replace")):
        return
    slot = last_old_registry(layout)
    if slot and read_document(os.path.join(layout.backup, slot)) == data:
        return
    os.makedirs(layout.backup, exist_ok=True)
    slot = next_slot(layout, REGISTRY)
    write_document(os.path.join(layout.backup, slot), data, fsync=fsync)
    if fsync:
        sync_folder(layout.ours)
    warn(f"the hand-made skills.json is kept as backup {slot}; `skillpm migrate` brings what it says into the registry")


def last_old_registry(layout: Layout) -> str:
    """Give the id of the newest hand-made registry that was kept; empty where there is none."""
    return next((backup.id for backup in reversed(backups(layout)) if backup.name == REGISTRY), "")
