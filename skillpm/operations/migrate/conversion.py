"""`migrate`: turn flat files, `x.md` and `<category>/x.md`, into skills, `x/SKILL.md`, without losing anything."""

import os

from skillpm.errors import NotFoundError
from skillpm.files import translate_os_errors
from skillpm.installer.backups import back_up_legacy_registry, find_latest_registry_backup
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import lock_scope
from skillpm.operations.migrate.flat_files import flat_files_hint
from skillpm.operations.migrate.plan import make_migration_plan
from skillpm.operations.migrate.report import MigrationResult, make_result
from skillpm.operations.pipeline.change import INTERRUPTED_CHANGE
from skillpm.operations.pipeline.executor import PlannedChange, execute


def migrate(scope: Scope, context: Context, *, dry_run: bool = False) -> MigrationResult:
    """Convert the flat files in a scope's skills directory to skills, all of them or none.

    Like every change it is planned twice: without the lock, to find out whether there is anything to do, and again
    while holding it.
    """
    layout = scope.layout
    if not os.path.isdir(layout.directory):
        raise NotFoundError(f"folder not found: {layout.directory}", hint=flat_files_hint(context.settings))
    is_interrupted = os.path.exists(layout.journal)
    if is_interrupted and dry_run:
        context.reporter.warn(INTERRUPTED_CHANGE)
    has_leftovers = is_interrupted or any(map(os.path.lexists, (layout.staging, layout.trash)))
    if dry_run or not has_leftovers:
        plan = make_migration_plan(scope, context)
        if dry_run or not plan.has_changes:
            return make_result(scope, context, plan, dry_run=dry_run)
    before = find_latest_registry_backup(layout)
    with lock_scope(scope, context):
        plan = make_migration_plan(scope, context)
        if plan.has_changes:
            _execute(scope, context, plan.change)
    after = find_latest_registry_backup(layout)
    return make_result(scope, context, plan, backup="" if after == before else after)


def _execute(scope: Scope, context: Context, change: PlannedChange) -> None:
    layout, fsync = scope.layout, context.settings.fsync
    # Executing checks this again; here it comes before the first write.
    scope.target(context.settings).raise_if_unwritable(("receipt", "registry"), change.links.changed_folders)
    # The commit would back up the old registry as well, and warn; here it is part of the result.
    with translate_os_errors("back up the old skills.json", layout.backups):
        back_up_legacy_registry(layout, context.reporter.log_verbose, fsync=fsync)
    execute(scope, context, change)
