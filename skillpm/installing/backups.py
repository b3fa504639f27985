"""What `--force` set aside: whole folders under `.skillpm/backup/<name>-<n>`, kept until somebody deletes them."""

import os

from skillpm.documents.names import is_skill_name
from skillpm.installing.layout import Layout
from skillpm.values import Value


class Backup(Value):
    """One folder set aside: its id, whose it was, where it lies."""

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
        if is_skill_name(name) and number.isdigit():
            found.append((name, int(number), slot))
    return [Backup(id=slot, name=name, path=os.path.join(layout.backup, slot)) for name, _, slot in sorted(found)]
