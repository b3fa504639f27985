"""`skillpm agents`."""

import sys
from typing import Any

import click

from skillpm.cli.options import create_invocation, scope_options
from skillpm.cli.text_layout import line_width
from skillpm.operations.agents import KnownAgent, list_agents


@click.command(
    epilog="""\b
Examples:
  skillpm agents         the hosts that are here
  skillpm agents --all   every host skillpm knows"""
)
@click.option("--all", "every", is_flag=True, help="List hosts that are not here, too.")
@scope_options
def command(every: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """List agent hosts, where each reads skills, and which are linked."""
    call = create_invocation(flags)
    scope = call.scope
    found = list_agents(scope, call.context)
    if call.console.as_json:
        call.console.print_json({"agents": [_to_json(agent) for agent in found]})
        return
    rows = [agent for agent in found if every or agent.is_present or agent.is_linked]
    ids, folders = 16, 24
    if any(ids + 8 + folders + 1 + len(agent.user_dir or "-") > line_width() for agent in rows):
        ids, folders = (
            max(map(len, cells)) for cells in zip(*((it.id, it.project_dir or "-") for it in rows), strict=True)
        )
    if rows and sys.stdout.isatty():
        call.console.print_line(f"{'agent':{ids}} {'state':7} {'in a project':{folders}} your own", bold=True)
    for agent in rows:
        state = "linked" if agent.is_linked or agent.shared_with else "here" if agent.is_present else ""
        row = f"{agent.id:{ids}} {state:7} {agent.project_dir or '-':{folders}} {agent.user_dir or '-'}"
        folder = agent.user_dir if scope.kind == "user" else agent.project_dir
        shared = f"  (shares {folder} with {', '.join(agent.shared_with)})" if agent.shared_with else ""
        if shared and len(row + shared) > line_width():  # below, where all the others have what they are
            call.console.print_line(row)
            row = " " * (ids + 7)
        call.console.print_line((row + shared).rstrip())
    if not rows:
        call.console.print_message("no agent host was found here; `skillpm agents --all` lists all that are known")
    elif not any(agent.is_linked or agent.shared_with for agent in rows):
        here = next((agent.id for agent in rows if agent.is_present), "")
        said = (
            f"{here}` shows the installed skills to it" if here else "AGENT` shows the installed skills to one of them"
        )
        call.console.print_message(f"`skillpm link{scope.flag} {said}")


def _to_json(agent: KnownAgent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "projectDir": agent.project_dir,
        "userDir": agent.user_dir,
        "present": agent.is_present,
        "linked": agent.is_linked,
        "shares": list(agent.shared_with),
    }
