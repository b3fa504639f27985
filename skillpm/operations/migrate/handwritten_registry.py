"""What people wrote by hand of the skills in a folder, before skillpm kept the registry there."""

import os

from skillpm.errors import ConflictError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import OldRegistry, is_generated, read_old_registry
from skillpm.installer.backups import last_old_registry
from skillpm.installer.layout import Layout


def old_registry_of(layout: Layout, text: str | None) -> OldRegistry:
    """Give what people wrote by hand: in the registry that is there, else in the last one that was kept."""
    if text is not None and not is_generated(text):
        return read_old_registry(text, layout.registry)
    slot = last_old_registry(layout)
    path = os.path.join(layout.backup, slot)
    kept = read_text(path) if slot else None
    if kept is None:
        return OldRegistry()
    try:
        return read_old_registry(kept, path).but(is_past=True)
    except ConflictError:
        return OldRegistry()
