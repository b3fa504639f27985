"""What people wrote by hand of the skills in a folder, before skillpm kept the registry there."""

import os

from skillpm.errors import ConflictError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import LegacyRegistry, is_generated, read_legacy_registry
from skillpm.installer.backups import find_latest_registry_backup
from skillpm.installer.layout import Layout


def load_legacy_registry(layout: Layout, text: str | None) -> LegacyRegistry:
    """Give what people wrote by hand: in the registry that is there, else in the last one that was kept."""
    if text is not None and not is_generated(text):
        return read_legacy_registry(text, layout.registry)
    slot = find_latest_registry_backup(layout)
    path = os.path.join(layout.backups, slot)
    kept = read_text(path) if slot else None
    if kept is None:
        return LegacyRegistry()
    try:
        return read_legacy_registry(kept, path).replace(is_past=True)
    except ConflictError:
        return LegacyRegistry()
