"""`skillpm migrate`."""

from typing import Any

import click

from skillpm.adopt.conversion import MigrationResult, migrate
from skillpm.cli.options import Invocation, create_invocation, dry_run_option, lock_timeout_option, scope_options
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.scope.project import Project
from skillpm.scope.scope import folder_scope

MAX_LISTED_SKIPS = 60


@click.command(
    epilog="""\b
Examples:
  skillpm migrate -g --dry-run   show what would happen in ~/.agent-skills
  skillpm migrate -g             convert it
  skillpm migrate ./skills       convert any folder of skills"""
)
@click.argument(
    "directory", metavar="[DIR]", required=False, help="A folder of skills [default: the scope's skills directory]."
)
@dry_run_option
@lock_timeout_option
@scope_options
def command(directory: str | None, dry_run: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """Convert flat files to skills: x.md and CATEGORY/x.md become x/SKILL.md.

    Metadata from an old skills.json (triggers, category, version, needs) is kept in the registry. Files that cannot be
    converted are left as they are and listed with the reason.
    """
    call = create_invocation({**flags, "offline": True})
    if directory is not None and (flags["user"] or flags["project"]):
        raise UsageError("DIR cannot be used together with --global or --project")
    scope = call.scope if directory is None else folder_scope(call.session.settings, directory)
    result = migrate(Project(scope, call.session), dry_run=dry_run)
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
        "skipped": [{"path": item.path, "why": item.reason} for item in result.ignored],
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
        extra = ", frontmatter added" if move.has_generated_frontmatter else ""
        console.print_line(f" + {move.target_path:{width}}  from {sanitize(move.source.path)}{extra}", fg="green")
    console.print_line(_format_summary(result))
    if result.ignored:
        console.print_line("not converted:")
        listed = result.ignored if console.verbose else result.ignored[:MAX_LISTED_SKIPS]
        width = min(40, max(len(sanitize(item.path)) for item in listed))
        for item in listed:
            console.print_line(f"   {sanitize(item.path):{width}}  {sanitize(item.reason)}")
        if len(listed) < len(result.ignored):
            console.print_line(f"   and {len(result.ignored) - len(listed)} more (-v lists all)")
    if result.legacy_metadata:
        keys = dict.fromkeys(key for metadata in result.legacy_metadata.values() for key in metadata.present_keys)
        console.print_line(
            f"the registry keeps {_join_with_or(*keys)} of {sanitize(', '.join(result.legacy_metadata), 300)}"
        )
    if result.backup:
        console.print_line(f"backed up the old skills.json as {result.backup}")
    for folder, names in result.linked_skills.items():
        console.print_line(
            f"{'would be ' if result.is_dry_run else ''}linked in {folder}: {sanitize(', '.join(names), 300)}"
        )
    if result.is_changed:
        console.print_message(f"next: {_format_next_step(result)}{_format_advice(result)}", indent=6)


def _join_with_or(*words: str) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _format_summary(result: MigrationResult) -> str:
    count = len(result.moves)
    skills = f"{pluralize(result.skill_count, 'skill')} in {result.directory}"
    if not count:
        outcome = "would bring the registry up to date" if result.is_dry_run else "registry brought up to date"
        return f"{outcome}: {skills}" if result.is_changed else f"nothing to convert: {skills}"
    files = pluralize(count, "flat file")
    return f"would have converted {files}: {skills}" if result.is_dry_run else f"converted {files}: {skills}"


def _format_next_step(result: MigrationResult) -> str:
    if result.is_dry_run:
        return "run it without --dry-run to convert them"
    return f"`{result.list_command}` lists them" + (
        f", `{result.link_command}` links them for an agent" if result.link_command else ""
    )


def _format_advice(result: MigrationResult) -> str:
    if any(move.has_generated_frontmatter for move in result.moves):
        return "; review the frontmatter that was added, since models choose a skill by its description"
    return ""
