"""Plan a migration: the skills to make of flat files, and registry, links and receipt afterwards. Changes nothing."""

from shlex import quote

from skillpm.core.values import Value
from skillpm.errors import ConflictError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import is_generated
from skillpm.installer.layout import load_receipt
from skillpm.installer.migration.migration_planner import Migration
from skillpm.installer.skill_content import ConvertedFile
from skillpm.installer.transaction import ChangeSet
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.migrate.scan import scan_for_migration
from skillpm.operations.pipeline.executor import NewSkill, PlannedChange
from skillpm.operations.pipeline.registry_plan import plan_local_change


class MigrationPlan(Value):
    """A planned migration."""

    migration: Migration
    change: PlannedChange
    skill_count: int
    # Whether the scope names agents to link.
    has_agents: bool
    has_changes: bool


def make_migration_plan(scope: Scope, context: Context) -> MigrationPlan:
    """Plan a migration. Raises `ConflictError` for a folder whose links show that it belongs to another scope."""
    layout, receipt = scope.layout, load_receipt(scope.layout)
    if receipt.links and scope.is_standalone:
        raise ConflictError(
            f"the skills in {layout.directory} are linked for agents, so the folder belongs to a scope",
            hint=f"use that scope: SKILLPM_HOME={quote(layout.directory)} skillpm migrate -g",
        )
    text = read_text(layout.registry)
    files = read_project_files(scope, context)
    migration = scan_for_migration(scope, context.settings, files, receipt, text)
    moved = {move.name for move in migration.moves}
    metadata = {name: metadata for name, metadata in receipt.inherited.items() if name not in moved}
    after = receipt.replace(inherited={**migration.legacy_metadata, **metadata})
    new_skills = {
        move.name: NewSkill(content=ConvertedFile(data=move.data, mode=move.source.mode)) for move in migration.moves
    }
    change, registry = plan_local_change(scope, context.settings, files, (receipt, after), new_skills)
    flat_files = {move.name: move.source.path for move in migration.moves}
    is_stale = text != registry.text and (bool(registry.entries) or (text is not None and is_generated(text)))
    return MigrationPlan(
        migration=migration,
        change=change.replace(moves=ChangeSet(flat_files=flat_files)),
        skill_count=len(registry.entries),
        has_agents=bool(files.agents),
        has_changes=bool(moved) or change.receipt != receipt or is_stale,
    )
