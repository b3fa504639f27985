"""`skillpm uninstall` (remove, rm)."""

import click

from skillpm.cli.change_options import build_change_options, change_options
from skillpm.cli.change_output import print_change
from skillpm.cli.options import Invocation
from skillpm.operations.install.uninstall import uninstall


@click.command(
    epilog="""\b
Examples:
  skillpm uninstall pdf           from skills.json, skills.lock and disk
  skillpm uninstall acme/skills   what `install acme/skills --all` installed
  skillpm rm pdf docx --dry-run   show what would be removed"""
)
@click.argument(
    "names",
    nargs=-1,
    required=True,
    metavar="NAME...",
    help="The skills to remove, or a repository of which all were installed.",
)
@change_options
def command(call: Invocation, names: tuple[str, ...]) -> None:
    """Remove skills. Edited skills are removed only with --force, which backs them up."""
    print_change(call, uninstall(call.scope, call.context, names, build_change_options(call)))
