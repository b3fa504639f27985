"""`skillpm link`."""

from typing import Any

import click

from skillpm.cli.change_options import build_change_options, change_options
from skillpm.cli.change_output import print_change
from skillpm.cli.options import create_invocation
from skillpm.errors import UsageError
from skillpm.operations.agents import link, list_agents
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope


@click.command(
    epilog="""\b
Examples:
  skillpm link claude-code       all skills of this scope into .claude/skills
  skillpm link -g codex cursor   for two hosts, in user scope"""
)
@click.argument("agents", nargs=-1, metavar="AGENT...")
@change_options
def command(agents: tuple[str, ...], **flags: Any) -> None:
    """Show your skills to agent hosts, installed or made by hand, now and later."""
    call = create_invocation(flags)
    if not agents:
        raise _missing_agent_error(call.scope, call.context)
    result = link(call.scope, call.context, agents, build_change_options(call))
    print_change(call, result, documents="agents of skills.json")
    if not result.actions:
        call.console.print_message(
            "there is no skill to show yet; what you install or make from now on is linked at once"
        )


def _missing_agent_error(scope: Scope, context: Context) -> UsageError:
    """Give the error for a command that names no host: with the hosts that are here."""
    here = [agent.id for agent in list_agents(scope, context) if agent.is_present]
    every = "`skillpm agents --all` lists every host"
    if not here:
        return UsageError("no agent is named, and none was found here", hint=every)
    named = ", ".join(here)
    return UsageError("no agent is named", hint=f"here are {named}: `skillpm link{scope.flag} {here[0]}`; {every}")
