"""What was set aside, told so that one knows it again: its version and since when it lies there."""

import os
from datetime import UTC, datetime

from skillpm.core.values import Value
from skillpm.installer.backups import Backup, backups
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import read_skill_file
from skillpm.operations.context.scope import Scope
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill


class Kept(Value):
    """A backup, the version that its SKILL.md says (empty where it says none), and when it was set aside, in UTC."""

    backup: Backup
    version: str
    since: datetime


def list_backups(scope: Scope) -> list[Kept]:
    """List what was set aside."""
    return [
        Kept(backup=backup, version=version_in(scope.layout, backup), since=_since(backup.path))
        for backup in backups(scope.layout)
    ]


def version_in(layout: Layout, backup: Backup) -> str:
    """Give the version that a backup says it is."""
    try:
        return read_skill(read_skill_file(folder_of(layout, backup))).version
    except (OSError, NotLoadable):
        return ""


def folder_of(layout: Layout, backup: Backup) -> str:
    """Give where the files of a backup lie: a link leads from where it lay."""
    if not os.path.islink(backup.path):
        return backup.path
    return os.path.normpath(os.path.join(layout.directory, os.readlink(backup.path)))


def _since(path: str) -> datetime:
    """Give when something was brought to its place: a rename leaves the times of what is in it."""
    return datetime.fromtimestamp(os.lstat(path).st_ctime, tz=UTC)
