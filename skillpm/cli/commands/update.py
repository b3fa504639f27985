"""`skillpm update` (upgrade)."""

from functools import partial

import click

from skillpm.cli.change_options import build_change_options, change_options, exclude_newer_option
from skillpm.cli.change_output import print_change, report_failures
from skillpm.cli.confirmation import run_confirmed, yes_option
from skillpm.cli.options import Invocation
from skillpm.operations.install.update import update


@click.command(
    epilog="""\b
Examples:
  skillpm update             update all skills
  skillpm update pdf         update one skill
  skillpm update --dry-run   show what would change"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...", help="The skills to update [default: all].")
@exclude_newer_option
@yes_option
@change_options
def command(call: Invocation, names: tuple[str, ...]) -> int:
    """Update skills to the newest that skills.json allows: versions in range, branch heads, moved tags."""
    options = build_change_options(call)
    result = run_confirmed(call, options, partial(update, call.scope, call.context, names))
    print_change(call, result)
    return report_failures(call.console, result.failures)
