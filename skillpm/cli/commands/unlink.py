"""`skillpm unlink`."""

from typing import Any

import click

from skillpm.cli.change_options import build_change_options, change_options
from skillpm.cli.change_output import print_change
from skillpm.cli.options import create_invocation
from skillpm.operations.agents import unlink


@click.command(
    epilog="""\b
Examples:
  skillpm unlink claude-code   take the links away; the skills stay"""
)
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@change_options
def command(agents: tuple[str, ...], **flags: Any) -> None:
    """Take the links for agent hosts away. Only links that skillpm made are removed."""
    call = create_invocation(flags)
    print_change(call, unlink(call.scope, call.context, agents, build_change_options(call)))
