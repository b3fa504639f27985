"""`skillpm uninstall` (remove, rm)."""

from typing import Any

import click

from skillpm.cli.change_options import changing, options_of
from skillpm.cli.change_output import tell_changed
from skillpm.cli.options import call_of
from skillpm.operations.install.uninstall import uninstall


@click.command(
    epilog="""\b
Examples:
  skillpm uninstall pdf           out of skills.json, skills.lock and the disk
  skillpm rm pdf docx --dry-run   only say what would go"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@changing
def command(names: tuple[str, ...], **flags: Any) -> None:
    """Remove skills. One that you edited is only removed with --force, which keeps a backup."""
    call = call_of(flags)
    tell_changed(call, uninstall(call.scope, call.tools, names, options_of(call)))
