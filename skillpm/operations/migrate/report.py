"""The result of a migration: what was done, warnings, and the next commands."""

from collections.abc import Iterator, Mapping
from shlex import quote

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.legacy_metadata import LegacyMetadata
from skillpm.formats.legacy_registry import IgnoredEntry
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.migration.migration_planner import FlatFileMove, Migration
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.migrate.plan import MigrationPlan
from skillpm.operations.pipeline.change import MAX_AGENTS_NAMED, find_present_agents

MAX_MISMATCHES = 10


class MigrationResult(Value):
    """What a migration did, or would do with `--dry-run`."""

    is_changed: bool
    directory: str
    moves: tuple[FlatFileMove, ...] = ()
    ignored: tuple[IgnoredEntry, ...] = ()
    legacy_metadata: Mapping[SkillName, LegacyMetadata] = EMPTY_MAPPING
    skill_count: int = 0
    # The id of the backup of the previous registry; empty if none was made.
    backup: str = ""
    warnings: tuple[str, ...] = ()
    is_dry_run: bool = False
    # The command that lists the skills, and the one that links them; empty if they are linked already.
    list_command: str = ""
    link_command: str = ""
    # Newly linked skills, by agent folder.
    linked_skills: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING


def make_result(
    scope: Scope, context: Context, plan: MigrationPlan, *, backup: str = "", dry_run: bool = False
) -> MigrationResult:
    """Return the result of a migration, and report its warnings."""
    migration = plan.migration
    for message in (*plan.change.links.warnings, *_migration_warnings(migration)):
        context.reporter.warn(message)
    return MigrationResult(
        is_changed=plan.has_changes,
        directory=scope.layout.directory,
        moves=migration.moves,
        ignored=migration.ignored,
        legacy_metadata=dict(sorted(migration.legacy_metadata.items())),
        skill_count=plan.skill_count,
        backup=backup,
        warnings=tuple(context.reporter.warnings),
        is_dry_run=dry_run,
        list_command=_list_command(scope),
        link_command="" if plan.has_agents or scope.is_standalone else _link_command(scope, context),
        linked_skills=_group_links(plan.change.links),
    )


def _migration_warnings(migration: Migration) -> Iterator[str]:
    for move in migration.moves:
        for finding in move.recovered_findings:
            yield f"{move.source.path}, line {finding.line}: {finding.message}"
    misnamed = [move for move in migration.moves if move.declared_name not in {"", move.name}]
    for move in misnamed[:MAX_MISMATCHES]:
        yield (
            f"{move.source.path} declares the name `{sanitize(move.declared_name, 64)}` but becomes {move.name}/: some "
            f"agents show one, some the other; set `name: {move.name}` in it, or rename the folder"
        )
    if len(misnamed) > MAX_MISMATCHES:
        yield f"{len(misnamed) - MAX_MISMATCHES} more declare another name than that of their folder"
    user_only = [name for name, metadata in sorted(migration.legacy_metadata.items()) if metadata.user_only]
    if user_only:
        yield (
            f"{', '.join(user_only)}: userOnly is only in the registry, which agents do not read; to hide it from "
            "models in agents, too, set `disable-model-invocation: true` in SKILL.md"
        )


def _group_links(links: LinkPlan) -> dict[str, tuple[SkillName, ...]]:
    """Return the skills that are newly linked, by agent folder."""
    grouped: dict[str, list[SkillName]] = {}
    for name, folders in sorted(links.links_to_create.items()):
        for folder in folders:
            grouped.setdefault(folder, []).append(name)
    return {folder: tuple(names) for folder, names in grouped.items()}


def _link_command(scope: Scope, context: Context) -> str:
    return scope.command("link", *(find_present_agents(scope, context)[:MAX_AGENTS_NAMED] or ["AGENT"]))


def _list_command(scope: Scope) -> str:
    if scope.is_standalone and scope.kind == "project":
        return f"SKILLPM_HOME={quote(scope.root)} skillpm list -g"
    return scope.command("list")
