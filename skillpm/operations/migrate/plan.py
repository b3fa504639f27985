"""Plan a migration: the skills to make of flat files, and registry, links and receipt afterwards. Changes nothing."""

import os
from collections.abc import Mapping
from shlex import quote

from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.values import Value
from skillpm.errors import ConflictError
from skillpm.files import read_text, translate_os_errors
from skillpm.formats.legacy_registry import LegacyRegistry, is_generated, read_legacy_registry
from skillpm.formats.receipt import Receipt
from skillpm.installer.backups import find_latest_registry_backup
from skillpm.installer.layout import Layout, load_receipt
from skillpm.installer.migration.migration_planner import Migration, plan_migration
from skillpm.installer.migration.scanner import FlatFolder, scan_flat_files
from skillpm.installer.skill_file import read_skill_file
from skillpm.installer.staging import ConvertedFile
from skillpm.installer.transaction import ChangeSet
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.executor import NewSkill, PlannedChange
from skillpm.operations.pipeline.local_change import plan_local_change
from skillpm.settings import Settings


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


def scan_for_migration(
    scope: Scope, settings: Settings, files: ProjectFiles, receipt: Receipt, registry_text: str | None
) -> Migration:
    """Return which flat files become skills, and what the old registry says of them."""
    layout = scope.layout
    with translate_os_errors("look for flat files", layout.directory):
        folder = scan_flat_files(layout.directory, settings.limits)
    legacy = load_legacy_registry(layout, registry_text)
    return plan_migration(folder, legacy, _reserved_names(files, receipt), _read_local_skills(layout, folder, receipt))


def _reserved_names(files: ProjectFiles, receipt: Receipt) -> dict[str, str]:
    """Return the names that an installation will need, with the reason."""
    reserved: dict[str, str] = dict.fromkeys(receipt.skills, "is an installed skill whose folder is missing")
    reserved |= dict.fromkeys(files.lockfile.skills, "is locked to another source")
    return reserved | dict.fromkeys(files.requirements, "is required by the manifest")


def _read_local_skills(layout: Layout, folder: FlatFolder, receipt: Receipt) -> Mapping[SkillName, bytes]:
    """Return the SKILL.md of local skills for which the receipt has no metadata of an old registry yet."""
    contents = {}
    for name in folder.skills:
        if is_skill_name(name) and name not in receipt.skills and name not in receipt.inherited:
            try:
                contents[SkillName(name)] = read_skill_file(layout.skill_path(name))
            except OSError:
                continue
    return contents


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
