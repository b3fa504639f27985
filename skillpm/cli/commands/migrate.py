"""`skillpm migrate`."""

from typing import Any

import click

from skillpm.cli.option_types import NUMBER
from skillpm.cli.options import Invocation, create_invocation, scope_options
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.operations.context.scope import folder_scope
from skillpm.operations.migrate.conversion import migrate
from skillpm.operations.migrate.report import MigrationResult

MAX_LISTED_SKIPS = 60


@click.command(
    epilog="""\b
Examples:
  skillpm migrate -g --dry-run   what would become of ~/.agent-skills
  skillpm migrate -g             do it
  skillpm migrate ./skills       a folder of skills anywhere"""
)
@click.argument("directory", metavar="[DIR]", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--lock-timeout", type=NUMBER, metavar="SECONDS", help="How long to wait for another skillpm.")
@scope_options
def command(directory: str | None, dry_run: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """Make skills of flat files: x.md and CATEGORY/x.md become x/SKILL.md.

    DIR is the skills directory of this scope, or the one you name. What an old skills.json says (triggers, category,
    version, needs) stays in the registry. What cannot be moved stays as it is, and is told with the reason.
    """
    call = create_invocation({**flags, "offline": True})
    if directory is not None and (flags["user"] or flags["project"]):
        raise UsageError("a folder was named, so -g and --project would name another")
    scope = call.scope if directory is None else folder_scope(call.context.settings, directory)
    result = migrate(scope, call.context, dry_run=dry_run)
    if call.console.as_json:
        call.console.print_json(_to_json(result))
    elif not call.console.quiet:
        _print_result(call, result)


def _to_json(result: MigrationResult) -> dict[str, Any]:
    value: dict[str, Any] = {
        "changed": result.is_changed and not result.is_dry_run,
        "moved": [
            {
                "from": move.source.path,
                "to": move.target_path,
                "frontmatter": "written" if move.has_generated_frontmatter else "kept",
            }
            for move in result.moves
        ],
        "skipped": [{"path": left.path, "why": left.reason} for left in result.ignored],
        "directory": result.directory,
        "inherited": list(result.legacy_metadata),
        "backup": result.backup,
        "warnings": list(result.warnings),
    }
    if result.is_dry_run:
        value["dryRun"] = True
    return value


def _print_result(invocation: Invocation, result: MigrationResult) -> None:
    console = invocation.console
    width = min(40, max((len(move.target_path) for move in result.moves), default=0))
    for move in result.moves:
        extra = ", frontmatter written" if move.has_generated_frontmatter else ""
        console.print_line(f" + {move.target_path:{width}}  from {sanitize(move.source.path)}{extra}", fg="green")
    console.print_line(_format_summary(result))
    if result.ignored:
        console.print_line("left as it is:")
        few = result.ignored if console.verbose else result.ignored[:MAX_LISTED_SKIPS]
        width = min(40, max(len(sanitize(left.path)) for left in few))
        for left in few:
            console.print_line(f"   {sanitize(left.path):{width}}  {sanitize(left.reason)}")
        if len(few) < len(result.ignored):
            console.print_line(f"   and {len(result.ignored) - len(few)} more: -v tells all")
    if result.legacy_metadata:
        facts = dict.fromkeys(fact for facts in result.legacy_metadata.values() for fact in facts.present_keys)
        console.print_line(
            f"the registry keeps {_join_with_or(*facts)} of {sanitize(', '.join(result.legacy_metadata), 300)}"
        )
    if result.backup:
        console.print_line(f"the old skills.json is kept as backup {result.backup}")
    for folder, linked in result.linked_skills.items():
        console.print_line(
            f"{'would be ' if result.is_dry_run else ''}linked in {folder}: {sanitize(', '.join(linked), 300)}"
        )
    if result.is_changed:
        for line in wrap_text(f"next: {_format_next_step(result)}{_format_advice(result)}", indent=6):
            console.print_message(line)


def _join_with_or(*words: str) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _format_summary(result: MigrationResult) -> str:
    count = len(result.moves)
    where = f"{pluralize(result.skill_count, 'skill')} in {result.directory}"
    if not count:
        said = "would bring the registry up to date" if result.is_dry_run else "registry brought up to date"
        return f"{said}: {where}" if result.is_changed else f"nothing to move: {where}"
    files = pluralize(count, "flat file")
    return f"would have moved {files}: {where}" if result.is_dry_run else f"moved {files}: {where}"


def _format_next_step(result: MigrationResult) -> str:
    if result.is_dry_run:
        return "the same without --dry-run does it"
    return f"`{result.list_command}` shows them" + (
        f", `{result.link_command}` to an agent" if result.link_command else ""
    )


def _format_advice(result: MigrationResult) -> str:
    if any(move.has_generated_frontmatter for move in result.moves):
        return "; look at the frontmatter that was written, since models choose a skill by its description"
    return ""
