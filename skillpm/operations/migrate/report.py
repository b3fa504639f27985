"""What came of a migration, and what there is to say of it: warnings, and the commands that go on from there."""

from collections.abc import Mapping
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
from skillpm.operations.install.next_steps import MAX_AGENTS_NAMED, find_present_agents

MAX_MISMATCHES = 10


class MigrationResult(Value):
    """What was done, or with `--dry-run` would be. `kept` is the backup of the registry that was there before,
    `listing` the command that shows the skills, `linked` those that agents see in their folders since, `showing` the
    command that shows them to an agent.
    """

    is_changed: bool
    directory: str
    moves: tuple[FlatFileMove, ...] = ()
    ignored: tuple[IgnoredEntry, ...] = ()
    legacy_metadata: Mapping[SkillName, LegacyMetadata] = EMPTY_MAPPING
    skill_count: int = 0
    backup: str = ""
    warnings: tuple[str, ...] = ()
    is_dry_run: bool = False
    list_command: str = ""
    linked_skills: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING
    link_command: str = ""


def warn_name_mismatches(context: Context, migration: Migration) -> None:
    """Say which skills call themselves otherwise than their folders will be called."""
    misnamed = [move for move in migration.moves if move.declared_name not in {"", move.name}]
    for move in misnamed[:MAX_MISMATCHES]:
        context.reporter.warn(
            f"{move.source.path} calls itself `{sanitize(move.declared_name, 64)}` and becomes {move.name}/: some hosts show one "
            f"name, some the other; write `name: {move.name}` into it, or rename the folder"
        )
    if len(misnamed) > MAX_MISMATCHES:
        context.reporter.warn(f"{len(misnamed) - MAX_MISMATCHES} more call themselves otherwise than their folders")


def warn_user_only(context: Context, migration: Migration) -> None:
    """Say which skills only the registry keeps from models: agent hosts read SKILL.md, and nothing else."""
    only = [name for name, facts in sorted(migration.legacy_metadata.items()) if facts.user_only]
    if only:
        context.reporter.warn(
            f"{', '.join(only)}: userOnly stands in the registry alone, which agent hosts do not read; write "
            f"`disable-model-invocation: true` into SKILL.md, and they keep models away, too"
        )


def group_links(links: LinkPlan) -> dict[str, tuple[SkillName, ...]]:
    """Give for each folder of an agent the skills that are linked there from now on."""
    found: dict[str, list[SkillName]] = {}
    for name, folders in sorted(links.links_to_create.items()):
        for folder in folders:
            found.setdefault(folder, []).append(name)
    return {folder: tuple(names) for folder, names in found.items()}


def make_link_command(scope: Scope, context: Context) -> str:
    """Give the command that shows the skills to an agent; empty for a folder of no scope, which has no agents."""
    if scope.root == scope.layout.directory:
        return ""
    return f"skillpm link{scope.flag} {' '.join(find_present_agents(scope, context)[:MAX_AGENTS_NAMED]) or 'AGENT'}"


def make_list_command(scope: Scope) -> str:
    """Give the command that lists the skills."""
    if scope.kind == "user":
        return "skillpm list -g"
    is_own = scope.root == scope.layout.directory
    return f"SKILLPM_HOME={quote(scope.root)} skillpm list -g" if is_own else "skillpm list"
