"""`skillpm link`."""

from typing import Any

import click

from skillpm.cli.changing import changing, options_of
from skillpm.cli.common import call_of
from skillpm.cli.told import tell_changed
from skillpm.operations.agents import link


@click.command(
    epilog="""\b
Examples:
  skillpm link claude-code       all skills of this scope into .claude/skills
  skillpm link -g codex cursor   for two hosts, in user scope"""
)
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@changing
def command(agents: tuple[str, ...], **flags: Any) -> None:
    """Show your skills to agent hosts, installed or made by hand, now and later."""
    call = call_of(flags)
    tell_changed(call, link(call.scope, call.tools, agents, options_of(call)))
