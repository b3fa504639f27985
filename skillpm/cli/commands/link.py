"""`skillpm link`."""

from collections.abc import Sequence

import click

from skillpm.cli.change_options import build_change_options
from skillpm.cli.options import Invocation, change_options, hide_options
from skillpm.cli.reports.change_output import print_change
from skillpm.errors import UsageError
from skillpm.operations.agents import detect_hosts, link

ALL_HOSTS = "`skillpm agents --all` lists all supported hosts"


@hide_options("insecure")
@click.command(
    epilog="""\b
Examples:
  skillpm link                   for the hosts that are used here
  skillpm link claude-code       link this scope's skills in .claude/skills
  skillpm link -g codex cursor   for two hosts, in user scope"""
)
@click.argument("agents", nargs=-1, metavar="[AGENT]...", help="Agent hosts (see `skillpm agents --all`).")
@change_options
def command(call: Invocation, agents: tuple[str, ...]) -> None:
    """Link the skills of this scope into the skills folders of agent hosts, and keep the links current."""
    result = link(call.project, agents or _choose_hosts(call), build_change_options(call))
    print_change(call, result, documents="agents of skills.json")
    if not result.actions:
        call.console.print_message("no skills to link yet; skills that you install or create later are linked at once")


def _choose_hosts(call: Invocation) -> Sequence[str]:
    """Return the hosts that are here; in a terminal, ask if a person has to choose. Raises `UsageError`."""
    hosts = detect_hosts(call.project)
    if not hosts.names:
        raise UsageError("no agent host given, and none found on this machine", hint=ALL_HOSTS)
    if hosts.is_certain:
        return hosts.names
    if not call.can_ask():
        example = f"`{call.scope.command('link', *hosts.names)}`"
        raise UsageError(
            f"no agent host given; this machine has several, and this project uses none yet: {', '.join(hosts.names)}",
            hint=f"name those to link: {example}; {ALL_HOSTS}",
        )
    answer: str = click.prompt("Link which hosts?", default=" ".join(hosts.names), err=True)
    return answer.replace(",", " ").split()
