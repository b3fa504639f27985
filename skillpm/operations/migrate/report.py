"""What came of a migration, and what there is to say of it: warnings, and the commands that go on from there."""

from collections.abc import Mapping
from shlex import quote

from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import NOTHING, Value
from skillpm.formats.legacy_metadata import Inherited
from skillpm.formats.legacy_registry import Left
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.migration.migration_planner import Migration, Move
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.next_steps import MOST_LINKED, agents_here

MOST_MISNAMED = 10


class Migrated(Value):
    """What was done, or with `--dry-run` would be. `kept` is the backup of the registry that was there before,
    `listing` the command that shows the skills, `linked` those that agents see in their folders since, `showing` the
    command that shows them to an agent.
    """

    changed: bool
    directory: str
    moves: tuple[Move, ...] = ()
    left: tuple[Left, ...] = ()
    inherited: Mapping[SkillName, Inherited] = NOTHING
    skills: int = 0
    kept: str = ""
    warnings: tuple[str, ...] = ()
    dry_run: bool = False
    listing: str = ""
    linked: Mapping[str, tuple[SkillName, ...]] = NOTHING
    showing: str = ""


def tell_misnamed(tools: Tools, migration: Migration) -> None:
    """Say which skills call themselves otherwise than their folders will be called."""
    misnamed = [move for move in migration.moves if move.declared not in {"", move.name}]
    for move in misnamed[:MOST_MISNAMED]:
        tools.reporter.warning(
            f"{move.flat.path} calls itself `{show(move.declared, 64)}` and becomes {move.name}/: some hosts show one "
            f"name, some the other; write `name: {move.name}` into it, or rename the folder"
        )
    if len(misnamed) > MOST_MISNAMED:
        tools.reporter.warning(f"{len(misnamed) - MOST_MISNAMED} more call themselves otherwise than their folders")


def tell_users_only(tools: Tools, migration: Migration) -> None:
    """Say which skills only the registry keeps from models: agent hosts read SKILL.md, and nothing else."""
    only = [name for name, facts in sorted(migration.inherited.items()) if facts.user_only]
    if only:
        tools.reporter.warning(
            f"{', '.join(only)}: userOnly stands in the registry alone, which agent hosts do not read; write "
            f"`disable-model-invocation: true` into SKILL.md, and they keep models away, too"
        )


def linked_in(links: LinkPlan) -> dict[str, tuple[SkillName, ...]]:
    """Give for each folder of an agent the skills that are linked there from now on."""
    found: dict[str, list[SkillName]] = {}
    for name, folders in sorted(links.made.items()):
        for folder in folders:
            found.setdefault(folder, []).append(name)
    return {folder: tuple(names) for folder, names in found.items()}


def showing(scope: Scope, tools: Tools) -> str:
    """Give the command that shows the skills to an agent; empty for a folder of no scope, which has no agents."""
    if scope.root == scope.layout.directory:
        return ""
    return f"skillpm link{scope.flag} {' '.join(agents_here(scope, tools)[:MOST_LINKED]) or 'AGENT'}"


def listing(scope: Scope) -> str:
    """Give the command that lists the skills."""
    if scope.kind == "user":
        return "skillpm list -g"
    is_own = scope.root == scope.layout.directory
    return f"SKILLPM_HOME={quote(scope.root)} skillpm list -g" if is_own else "skillpm list"
