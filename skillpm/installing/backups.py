"""What was set aside, under `.skillpm/backup/<name>-<n>`, kept until somebody deletes it.

Whole folders that `--force` put out of the way, and `skills.json-<n>`: a registry that somebody wrote by hand.
"""

import os
from collections.abc import Callable

from skillpm.documents.names import is_skill_name
from skillpm.documents.old_registry import is_generated
from skillpm.files import read_document, write_document
from skillpm.installing.layout import Layout
from skillpm.values import Value

REGISTRY = "skills.json"
HEAD = 1000


class Backup(Value):
    """One thing set aside: its id, whose it was, where it lies."""

    id: str
    name: str
    path: str


def set_aside(layout: Layout, name: str) -> str:
    """Move a skill's folder to the next free backup; give its id."""
    os.makedirs(layout.backup, exist_ok=True)
    slot = next_slot(layout, name)
    os.rename(layout.skill(name), os.path.join(layout.backup, slot))
    return slot


def next_slot(layout: Layout, name: str) -> str:
    """Give the id that the next backup of a skill will have."""
    number = 1
    while os.path.lexists(os.path.join(layout.backup, f"{name}-{number}")):
        number += 1
    return f"{name}-{number}"


def backups(layout: Layout) -> list[Backup]:
    """List what was set aside, by name and number."""
    try:
        names = os.listdir(layout.backup)
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for slot in names:
        name, _, number = slot.rpartition("-")
        if (is_skill_name(name) or name == REGISTRY) and number.isdigit():
            found.append((name, int(number), slot))
    return [Backup(id=slot, name=name, path=os.path.join(layout.backup, slot)) for name, _, slot in sorted(found)]


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
    warn(f"the hand-made skills.json is kept as backup {slot}; `skillpm migrate` brings what it says into the registry")


def last_old_registry(layout: Layout) -> str:
    """Give the id of the newest hand-made registry that was kept; empty where there is none."""
    return next((backup.id for backup in reversed(backups(layout)) if backup.name == REGISTRY), "")
