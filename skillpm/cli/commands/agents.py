"""`skillpm agents`."""

import sys
from typing import Any

import click

from skillpm.cli.options import Invocation, scope_options
from skillpm.cli.text_layout import line_width
from skillpm.operations.agents import KnownAgent, list_agents
from skillpm.scope.project import Project


@click.command(
    epilog="""\b
Examples:
  skillpm agents         hosts found on this machine
  skillpm agents --all   every host that skillpm supports"""
)
@click.option("--all", "show_all", is_flag=True, help="Also list hosts that were not found on this machine.")
@scope_options
def command(call: Invocation, show_all: bool) -> None:  # noqa: FBT001  (a flag of the command line)
    """List agent hosts, where each reads skills, and which are linked."""
    scope = call.scope
    agents = list_agents(Project(scope, call.session))
    if call.console.as_json:
        call.console.print_json({"agents": [_to_json(agent) for agent in agents]})
        return
    rows = [agent for agent in agents if show_all or agent.is_present or agent.is_linked]
    id_width, dir_width = 16, 24
    if any(id_width + 8 + dir_width + 1 + len(agent.user_dir or "-") > line_width() for agent in rows):
        id_width, dir_width = (
            max(map(len, cells)) for cells in zip(*((it.id, it.project_dir or "-") for it in rows), strict=True)
        )
    if rows and sys.stdout.isatty():
        header = f"{'agent':{id_width}} {'state':7} {'in a project':{dir_width}} in user scope"
        call.console.print_line(header, bold=True)
    for agent in rows:
        state = "linked" if agent.is_linked or agent.shared_with else "here" if agent.is_present else ""
        row = f"{agent.id:{id_width}} {state:7} {agent.project_dir or '-':{dir_width}} {agent.user_dir or '-'}"
        folder = agent.user_dir if scope.kind == "user" else agent.project_dir
        shared = f"  (shares {folder} with {', '.join(agent.shared_with)})" if agent.shared_with else ""
        if shared and len(row + shared) > line_width():  # on a line of its own, aligned with the folders
            call.console.print_line(row)
            row = " " * (id_width + 7)
        style = {"fg": "green"} if state == "linked" else {}
        call.console.print_line((row + shared).rstrip(), **style)
    if not rows:
        call.console.print_message("no agent hosts found; `skillpm agents --all` lists all supported hosts")
    elif not any(agent.is_linked or agent.shared_with for agent in rows):
        present = next((agent.id for agent in rows if agent.is_present), "")
        call.console.print_message(f"`skillpm link{scope.flag} {present or 'AGENT'}` links the installed skills")


def _to_json(agent: KnownAgent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "projectDir": agent.project_dir,
        "userDir": agent.user_dir,
        "present": agent.is_present,
        "linked": agent.is_linked,
        "shares": list(agent.shared_with),
    }
