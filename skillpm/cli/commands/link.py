"""`skillpm link`."""

import click

from skillpm.cli.change_options import build_change_options, change_options
from skillpm.cli.change_output import print_change
from skillpm.cli.options import Invocation
from skillpm.errors import UsageError
from skillpm.operations.agents import link, list_agents
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope


@click.command(
    epilog="""\b
Examples:
  skillpm link claude-code       link this scope's skills in .claude/skills
  skillpm link -g codex cursor   for two hosts, in user scope"""
)
@click.argument("agents", nargs=-1, metavar="AGENT...", help="Agent hosts (see `skillpm agents --all`).")
@change_options
def command(call: Invocation, agents: tuple[str, ...]) -> None:
    """Link the skills of this scope into the skills folders of agent hosts, and keep the links current."""
    if not agents:
        raise _missing_agent_error(call.scope, call.context)
    result = link(call.scope, call.context, agents, build_change_options(call))
    print_change(call, result, documents="agents of skills.json")
    if not result.actions:
        call.console.print_message("no skills to link yet; skills that you install or create later are linked at once")


def _missing_agent_error(scope: Scope, context: Context) -> UsageError:
    """Return the error for a command without AGENT, with the hosts found on this machine as a hint."""
    present = [agent.id for agent in list_agents(scope, context) if agent.is_present]
    all_hosts = "`skillpm agents --all` lists all supported hosts"
    if not present:
        return UsageError("no agent host given, and none found on this machine", hint=all_hosts)
    example = f"`skillpm link{scope.flag} {present[0]}`"
    return UsageError("no agent host given", hint=f"found {', '.join(present)}: {example}; {all_hosts}")
