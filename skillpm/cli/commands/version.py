"""`skillpm version`."""

import click

from skillpm import __version__
from skillpm.cli.change_options import dry_run_option
from skillpm.cli.options import Invocation, output_options
from skillpm.core.shell import shell_word
from skillpm.errors import UsageError
from skillpm.operations.version import change_version


@click.command(
    epilog="""\b
Examples:
  skillpm version pdf minor            1.2.3 becomes 1.3.0
  skillpm version skills/pdf 2.0.0rc1  a path, and a version
  skillpm version                      the version of skillpm"""
)
@click.argument("skill", default="", required=False, metavar="NAME-or-PATH", help="The skill.")
@click.argument("change", default="", required=False, metavar="VERSION", help="major, minor, patch, or a version.")
@dry_run_option
@output_options
def command(call: Invocation, skill: str, change: str) -> None:
    """Raise the version in the SKILL.md of a skill. Nothing else in the file changes."""
    if not skill:
        call.console.print_line(f"skillpm {__version__}")
        return
    if not change:
        raise UsageError("missing the version", hint=f"e.g. skillpm version {shell_word(skill)} minor")
    dry_run = call.flags["dry_run"]
    result = change_version(call.context, skill, change, dry_run=dry_run)
    is_changed = result.before != result.after
    if call.console.as_json:
        value = {"name": result.name, "path": result.path, "from": result.before, "to": result.after}
        call.console.print_json(
            {"changed": is_changed and not dry_run, **value, **({"dryRun": True} if dry_run else {})}
        )
    elif not call.console.quiet:
        before = result.before or "no version"
        call.console.print_line(
            f"{result.name} {before} → {result.after}" if is_changed else f"{result.name} is already {result.after}"
        )
