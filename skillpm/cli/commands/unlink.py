"""`skillpm unlink`."""

import click

from skillpm.cli.change_options import build_change_options
from skillpm.cli.options import Invocation, change_options, hide_options
from skillpm.cli.reports.change_output import print_change
from skillpm.operations.agents import unlink


@hide_options("keep", "force", "allowed_rules", "insecure")
@click.command(
    epilog="""\b
Examples:
  skillpm unlink claude-code   remove its links; the skills stay installed"""
)
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...", help="Linked agent hosts.")
@change_options
def command(call: Invocation, agents: tuple[str, ...]) -> None:
    """Remove skill links from the folders of agent hosts. Links that skillpm did not create are kept."""
    print_change(call, unlink(call.project, agents, build_change_options(call)))
