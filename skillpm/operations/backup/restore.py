"""`backup restore`: restore a backup to where it was."""

import os

from skillpm.installer.backups import Backup
from skillpm.installer.layout import load_receipt
from skillpm.operations.backup.inventory import find_backup
from skillpm.operations.backup.plan import must_back_up, plan_restore
from skillpm.operations.backup.result import make_result, version_mismatch_messages
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import lock_scope
from skillpm.operations.pipeline.change import INTERRUPTED_CHANGE, ChangeResult
from skillpm.operations.pipeline.dry_run import backup_message
from skillpm.operations.pipeline.executor import execute


def restore(
    scope: Scope, context: Context, id_or_name: str, *, force: bool = False, dry_run: bool = False
) -> ChangeResult:
    """Restore a backup to where it was: a skill's folder, or a link's place in an agent's folder.

    Raises `BlockedError` if local changes are there now, unless `force` backs them up.
    """
    if dry_run:
        return _dry_run(scope, context, id_or_name, force=force)
    with lock_scope(scope, context):
        backup, receipt = find_backup(scope, id_or_name), load_receipt(scope.layout)
        back_up_existing = must_back_up(scope, context.settings, backup, receipt, force=force)
        files = read_project_files(scope, context)
        change = plan_restore(scope, context.settings, files, backup, receipt, back_up_existing=back_up_existing)
        _warn(context, *version_mismatch_messages(scope, files, backup), *change.links.warnings)
        execute(scope, context, change)
    if backup.origin and backup.name in receipt.skills:
        sync = scope.command("sync")
        _warn(context, f"{backup.origin}/{backup.name}: `{sync}` will stop at it while that agent is linked")
    return make_result(scope, context, files, backup, receipt, dry_run=False)


def _dry_run(scope: Scope, context: Context, id_or_name: str, *, force: bool) -> ChangeResult:
    if os.path.exists(scope.layout.journal):
        _warn(context, INTERRUPTED_CHANGE)
    backup, receipt = find_backup(scope, id_or_name), load_receipt(scope.layout)
    files = read_project_files(scope, context)
    if must_back_up(scope, context.settings, backup, receipt, force=force):
        _warn(context, backup_message(_place(scope, context, backup)))
    _warn(context, *version_mismatch_messages(scope, files, backup))
    return make_result(scope, context, files, backup, receipt, dry_run=True)


def _place(scope: Scope, context: Context, backup: Backup) -> str:
    """Return what a message calls the place of a backup: the skill, or a path in an agent's folder."""
    if not backup.origin:
        return backup.name
    return os.path.join(scope.link_folders(context.settings).path(backup.origin), backup.name)


def _warn(context: Context, *messages: str) -> None:
    for message in messages:
        context.reporter.warn(message)
