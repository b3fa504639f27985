"""`skillpm disable`."""

import click

from skillpm.cli.change_options import build_change_options
from skillpm.cli.commands.enable import print_enable_result
from skillpm.cli.options import Invocation, change_options, hide_options
from skillpm.operations.enable import disable


@hide_options("keep", "force", "allowed_rules", "insecure")
@click.command(
    epilog="""\b
Examples:
  skillpm disable pdf                  for all agent hosts
  skillpm disable pdf --agent codex    for one agent host"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", help="Installed skills.")
@click.option("--agent", "agents", multiple=True, metavar="ID", help="Disable for this agent host only (repeatable).")
@change_options
def command(call: Invocation, names: tuple[str, ...], agents: tuple[str, ...]) -> None:
    """Disable skills without uninstalling them: remove them from registry, links and prompts."""
    print_enable_result(call, disable(call.project, names, agents, build_change_options(call)))
