"""`skillpm enable`."""

from typing import Any

import click

from skillpm.cli.change_options import changing, options_of
from skillpm.cli.change_output import tell_switched
from skillpm.cli.options import call_of
from skillpm.operations.enable import enable


@click.command(
    epilog="""\b
Examples:
  skillpm enable pdf                  for everybody
  skillpm enable pdf --agent codex    for one agent host"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--agent", "agents", multiple=True, metavar="ID", help="Only for this agent host; may be repeated.")
@changing
def command(names: tuple[str, ...], agents: tuple[str, ...], **flags: Any) -> None:
    """Switch skills on again that were disabled."""
    call = call_of(flags)
    tell_switched(call, enable(call.scope, call.tools, names, agents, options_of(call)))
