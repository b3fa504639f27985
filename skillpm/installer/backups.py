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
from skillpm.files import discard_file, read_document, read_text, remove_tree, sync_folder, write_document
from skillpm.formats.legacy_metadata import Inherited, inherited_value, read_inherited
from skillpm.formats.legacy_registry import is_generated
from skillpm.installer.layout import Layout
from skillpm.installer.rename import shift


def keep_told(layout: Layout, slot: str, facts: Inherited | None) -> None:
    """Keep what was told of a skill beside the backup that it becomes; nothing where nothing was."""
    if facts is None:
        discard_file(_path(layout, slot))  # of a command that was killed before it moved the folder
    else:
        write_document(_path(layout, slot), dump_json(inherited_value(facts)).encode(), fsync=True)


def told_aside(layout: Layout, slot: str) -> Inherited | None:
    """Give what was kept beside a backup; nothing where nothing was, or where it cannot be read."""
    path = _path(layout, slot)
    try:
        text = read_text(path)
        return None if text is None else read_inherited(parse_json(text, path))
    except DocumentError:
        return None


def forget_told(layout: Layout, slot: str) -> None:
    """Remove what was kept beside a backup."""
    discard_file(_path(layout, slot))


def _path(layout: Layout, slot: str) -> str:
    return os.path.join(layout.backup, f"{slot}.told")


REGISTRY = "skills.json"
HEAD = 1000


class Backup(Value):
    """One thing set aside: its id, whose it was, where it lies; `origin` is the agent folder it lay in, if any."""

    id: str
    name: str
    path: str
    origin: str = ""


def set_aside(layout: Layout, name: str, path: str, told: Inherited | None) -> str:
    """Move a skill's folder, wherever it is, to the next free backup, with what was told of it; give its id."""
    os.makedirs(layout.backup, exist_ok=True)
    slot = next_slot(layout, name)
    keep_told(layout, slot, told)
    shift(path, os.path.join(layout.backup, slot))
    return slot


def set_aside_from(layout: Layout, name: str, path: str, origin: str, *, fsync: bool) -> str:
    """Move what lies at a link's place in an agent folder to the next free backup; give its id."""
    os.makedirs(layout.backup, exist_ok=True)
    slot = next_slot(layout, name, origin)
    # First the line: a backup that does not know where it lay would come back at the wrong place.
    write_document(_origin_path(layout, slot), f"{origin}\n".encode(), fsync=fsync)
    shift(path, os.path.join(layout.backup, slot))
    return slot


def bring_back(layout: Layout, slot: str, path: str) -> None:
    """Move a backup to where it lay in an agent folder, where nothing lies now."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shift(os.path.join(layout.backup, slot), path)


def forget(layout: Layout, slot: str) -> None:
    """Remove what is left of a backup that was restored, and the folder of backups when it was the last."""
    kept = os.path.join(layout.backup, slot)
    if os.path.lexists(kept):
        # Nobody who lists the backups sees half of one; trash is emptied at the end of every change.
        gone = os.path.join(layout.trash, f"{slot}.spent")
        remove_tree(gone)
        shift(kept, gone)
    discard_file(_origin_path(layout, slot))
    forget_told(layout, slot)
    try:
        os.rmdir(layout.backup)
    except OSError:
        return


def next_slot(layout: Layout, name: str, origin: str = "") -> str:
    """Give the id that the next backup of a skill will have. A line that a killed command wrote for the same `origin`
    waits for its folder.
    """
    number = 1
    while True:
        slot = f"{name}-{number}"
        line = read_text(_origin_path(layout, slot))
        if not os.path.lexists(os.path.join(layout.backup, slot)) and (line is None or line.strip() == origin != ""):
            return slot
        number += 1


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
    kept = _kept_registries(layout)
    if kept and read_document(os.path.join(layout.backup, kept[0])) == data:
        return
    os.makedirs(layout.backup, exist_ok=True)
    slot = next_slot(layout, REGISTRY)
    write_document(os.path.join(layout.backup, slot), data, fsync=fsync)
    if fsync:
        sync_folder(layout.ours)
    if _is_json(layout, slot):
        what_then = "`skillpm migrate` brings what it says into the registry"
        warn(f"the hand-made skills.json is kept as backup {slot}; {what_then}")
    else:
        warn(f"the skills.json that could not be read is kept as backup {slot}; it is written anew")


def last_old_registry(layout: Layout) -> str:
    """Give the id of the newest hand-made registry that was kept and can be read; empty where there is none."""
    return next((slot for slot in _kept_registries(layout) if _is_json(layout, slot)), "")


def _kept_registries(layout: Layout) -> list[str]:
    return [backup.id for backup in reversed(backups(layout)) if backup.name == REGISTRY]


def _is_json(layout: Layout, slot: str) -> bool:
    path = os.path.join(layout.backup, slot)
    try:
        parse_json(read_document(path).decode().removeprefix("\ufeff"), path)
    except (DocumentError, OSError, UnicodeError):
        return False
    return True
