"""`skillpm update` (upgrade)."""

from typing import Any

import click

from skillpm.cli.change_options import changing, dated, options_of
from skillpm.cli.change_output import tell_changed
from skillpm.cli.options import call_of
from skillpm.operations.install.update import update


@click.command(
    epilog="""\b
Examples:
  skillpm update             all skills
  skillpm update pdf         one of them
  skillpm update --dry-run   only say what would change"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@dated
@changing
def command(names: tuple[str, ...], **flags: Any) -> None:
    """Take the newest that skills.json allows: branch heads, moved tags, bundled versions."""
    call = call_of(flags)
    tell_changed(call, update(call.scope, call.tools, names, options_of(call)))
