"""`skillpm update` (upgrade)."""

import click

from skillpm.cli.change_options import build_change_options, change_options, exclude_newer_option
from skillpm.cli.change_output import print_change
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
@change_options
def command(call: Invocation, names: tuple[str, ...]) -> None:
    """Update skills to the newest that skills.json allows: versions in range, branch heads, moved tags."""
    print_change(call, update(call.scope, call.context, names, build_change_options(call)))
