"""The handwritten registry of a folder, which was there before skillpm generated one."""

import os

from skillpm.errors import ConflictError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import LegacyRegistry, is_generated, read_legacy_registry
from skillpm.installer.backups import find_latest_registry_backup
from skillpm.installer.layout import Layout


def load_legacy_registry(layout: Layout, text: str | None) -> LegacyRegistry:
    """Return the handwritten registry: the present one, else its latest backup."""
    if text is not None and not is_generated(text):
        return read_legacy_registry(text, layout.registry)
    backup_id = find_latest_registry_backup(layout)
    path = os.path.join(layout.backups, backup_id)
    backup = read_text(path) if backup_id else None
    if backup is None:
        return LegacyRegistry()
    try:
        return read_legacy_registry(backup, path).replace(is_past=True)
    except ConflictError:
        return LegacyRegistry()
