"""`skillpm disable`."""

from typing import Any

import click

from skillpm.cli.change_options import changing, options_of
from skillpm.cli.change_output import tell_switched
from skillpm.cli.options import call_of
from skillpm.operations.enable import disable


@click.command(
    epilog="""\b
Examples:
  skillpm disable pdf                  for everybody
  skillpm disable pdf --agent codex    for one agent host"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--agent", "agents", multiple=True, metavar="ID", help="Only for this agent host; may be repeated.")
@changing
def command(names: tuple[str, ...], agents: tuple[str, ...], **flags: Any) -> None:
    """Switch skills off without uninstalling them: out of the registry, the links and the prompts."""
    call = call_of(flags)
    tell_switched(call, disable(call.scope, call.tools, names, agents, options_of(call)))
