"""What was set aside, told so that one knows it again: its version and since when it lies there."""

import os
from datetime import UTC, datetime

from skillpm.core.values import Value
from skillpm.installer.backups import Backup, list_backups
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import read_skill_file
from skillpm.operations.context.scope import Scope
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill


class BackupEntry(Value):
    """A backup, the version that its SKILL.md says (empty where it says none), and when it was set aside, in UTC."""

    backup: Backup
    version: str
    created_at: datetime


def list_backup_entries(scope: Scope) -> list[BackupEntry]:
    """List what was set aside."""
    return [
        BackupEntry(
            backup=backup, version=read_backup_version(scope.layout, backup), created_at=_creation_time(backup.path)
        )
        for backup in list_backups(scope.layout)
    ]


def read_backup_version(layout: Layout, backup: Backup) -> str:
    """Give the version that a backup says it is."""
    try:
        return read_skill(read_skill_file(backup_folder(layout, backup))).version
    except (OSError, NotLoadable):
        return ""


def backup_folder(layout: Layout, backup: Backup) -> str:
    """Give where the files of a backup lie: a link leads from where it lay."""
    if not os.path.islink(backup.path):
        return backup.path
    return os.path.normpath(os.path.join(layout.directory, os.readlink(backup.path)))


def _creation_time(path: str) -> datetime:
    """Give when something was brought to its place: a rename leaves the times of what is in it."""
    return datetime.fromtimestamp(os.lstat(path).st_ctime, tz=UTC)
