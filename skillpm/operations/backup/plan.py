"""Plan to restore a backup into the skills directory, or into the agent's folder that it came from. Changes nothing."""

from skillpm.core.names import SkillName
from skillpm.errors import BlockedError, UsageError
from skillpm.formats.receipt import Receipt
from skillpm.installer.backups import REGISTRY_NAME, Backup, read_backup_metadata
from skillpm.installer.disk_state import read_installed_state
from skillpm.installer.staging import CopiedSource
from skillpm.installer.stat_cache import StatCache
from skillpm.installer.transaction import ChangeSet
from skillpm.operations.backup.agent_folders import check_origin, plan_agent_restore
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.executor import NewSkill, PlannedChange
from skillpm.operations.pipeline.local_change import plan_local_change
from skillpm.settings import Settings


def must_back_up(scope: Scope, settings: Settings, backup: Backup, receipt: Receipt, *, force: bool) -> bool:
    """Return whether local changes have to be backed up first. Raises `BlockedError` if so, and not `force`."""
    if backup.name == REGISTRY_NAME:
        raise UsageError(
            f"`{backup.id}` is a backup of a handwritten registry, not of a skill; the registry is generated",
            hint=f"run `{scope.command('migrate')}` to import its entries; the file is {backup.path}",
        )
    name = SkillName(backup.name)
    if backup.origin:
        is_occupied, error = check_origin(scope, settings, backup, receipt)
    else:
        path = scope.layout.skill_path(name)
        state = read_installed_state(path, name, receipt.skills.get(name), StatCache())
        is_occupied = state.kind in {"edited", "foreign"}
        diff = scope.command("diff", name)
        error = BlockedError(
            f"{name} has local changes again; nothing was changed",
            where=path,
            hint=f"use `{diff}` to see them, or `--force` to back them up first",
        )
    if is_occupied and not force:
        raise error
    return is_occupied


def plan_restore(
    scope: Scope, settings: Settings, files: ProjectFiles, backup: Backup, receipt: Receipt, *, back_up_existing: bool
) -> PlannedChange:
    """Plan to restore a backup to where it was."""
    if backup.origin:
        return plan_agent_restore(backup, receipt, back_up_existing=back_up_existing)
    name, after = SkillName(backup.name), receipt
    if metadata := read_backup_metadata(scope.layout, backup.id):
        after = receipt.replace(inherited={**receipt.inherited, name: metadata})
    state = read_installed_state(backup.path, name, receipt.skills.get(name), StatCache())
    skill = NewSkill(
        content=CopiedSource(path=backup.path), needs_backup=back_up_existing, is_edited=state.kind == "edited"
    )
    change, _ = plan_local_change(scope, settings, files, (receipt, after), {name: skill})
    return change.replace(moves=ChangeSet(consumed_backups=(backup.id,)))
