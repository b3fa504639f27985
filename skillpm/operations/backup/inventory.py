"""List and find backups, with their version and date."""

import os
from datetime import UTC, datetime

from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError
from skillpm.installer.disk.backups import Backup, list_backups
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.staging import CopiedSource, read_content_skill_file
from skillpm.scope.scope import Scope
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill


class BackupEntry(Value):
    """A backup with its details."""

    backup: Backup
    # As its SKILL.md declares it; empty if it declares none.
    version: str
    # In UTC.
    created_at: datetime


def list_backup_entries(scope: Scope) -> list[BackupEntry]:
    """List all backups of a scope."""
    return [
        BackupEntry(
            backup=backup, version=read_backup_version(scope.layout, backup), created_at=_creation_time(backup.path)
        )
        for backup in list_backups(scope.layout)
    ]


def read_backup_version(layout: Layout, backup: Backup) -> str:
    """Return the version that a backup declares, or an empty string."""
    try:
        return read_skill(read_content_skill_file(layout, CopiedSource(path=backup.path))[1]).version
    except (OSError, NotLoadable):
        return ""


def find_backup(scope: Scope, id_or_name: str) -> Backup:
    """Return the backup with this id, or the only one of the skill with this name. Raises `NotFoundError`."""
    backups = list_backups(scope.layout)
    for backup in backups:
        if backup.id == id_or_name:
            return backup
    of_name = [backup for backup in backups if backup.name == id_or_name]
    if len(of_name) == 1:
        return of_name[0]
    if of_name:
        hint = f"choose one: {', '.join(backup.id for backup in of_name)}"
        raise NotFoundError(f"there are {len(of_name)} backups of `{sanitize(id_or_name)}`", hint=hint)
    if not backups:
        hint = "`--force` creates backups; restoring one removes it"
        raise NotFoundError(f"backup `{sanitize(id_or_name)}` not found: there are no backups here", hint=hint)
    fallback = f"run `{scope.command('backup list')}` to see all backups"
    hint = suggestion_hint(id_or_name, [backup.id for backup in backups], fallback)
    raise NotFoundError(f"backup `{sanitize(id_or_name)}` not found", hint=hint)


def _creation_time(path: str) -> datetime:
    """Return when the backup was moved here: a rename changes this time, and not those of the files in the folder."""
    return datetime.fromtimestamp(os.lstat(path).st_ctime, tz=UTC)
