"""What `migrate` had found out of a skill beyond its SKILL.md goes aside with its folder, and comes back with it."""

import os

from skillpm.documents.decode import dump_json, parse_json
from skillpm.documents.inherited import Inherited, inherited_value, read_inherited
from skillpm.errors import DocumentError
from skillpm.files import discard_file, read_text, write_document
from skillpm.installing.layout import Layout


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
