"""`skillpm link`."""

from typing import Any

import click

from skillpm.cli.change_options import changing, options_of
from skillpm.cli.change_output import tell_changed
from skillpm.cli.options import call_of
from skillpm.errors import UsageError
from skillpm.operations.agents import known_agents, link
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope


@click.command(
    epilog="""\b
Examples:
  skillpm link claude-code       all skills of this scope into .claude/skills
  skillpm link -g codex cursor   for two hosts, in user scope"""
)
@click.argument("agents", nargs=-1, metavar="AGENT...")
@changing
def command(agents: tuple[str, ...], **flags: Any) -> None:
    """Show your skills to agent hosts, installed or made by hand, now and later."""
    call = call_of(flags)
    if not agents:
        raise _nobody_named(call.scope, call.tools)
    result = link(call.scope, call.tools, agents, options_of(call))
    tell_changed(call, result, papers="agents of skills.json")
    if not result.actions:
        call.console.say("there is no skill to show yet; what you install or make from now on is linked at once")


def _nobody_named(scope: Scope, tools: Tools) -> UsageError:
    """Give the error for a command that names no host: with the hosts that are here."""
    here = [agent.id for agent in known_agents(scope, tools) if agent.present]
    every = "`skillpm agents --all` lists every host"
    if not here:
        return UsageError("no agent is named, and none was found here", hint=every)
    named = ", ".join(here)
    return UsageError("no agent is named", hint=f"here are {named}: `skillpm link{scope.flag} {here[0]}`; {every}")
