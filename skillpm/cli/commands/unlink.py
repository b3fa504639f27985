"""`skillpm unlink`."""

from typing import Any

import click

from skillpm.cli.change_options import changing, options_of
from skillpm.cli.change_output import tell_changed
from skillpm.cli.options import call_of
from skillpm.operations.agents import unlink


@click.command(
    epilog="""\b
Examples:
  skillpm unlink claude-code   take the links away; the skills stay"""
)
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@changing
def command(agents: tuple[str, ...], **flags: Any) -> None:
    """Take the links for agent hosts away. Only links that skillpm made are removed."""
    call = call_of(flags)
    tell_changed(call, unlink(call.scope, call.tools, agents, options_of(call)))
