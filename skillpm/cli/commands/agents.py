"""`skillpm agents`."""

import sys
from typing import Any

import click

from skillpm.cli.options import call_of, reading
from skillpm.cli.text_layout import room
from skillpm.operations.agents import KnownAgent, known_agents


@click.command(
    epilog="""\b
Examples:
  skillpm agents         the hosts that are here
  skillpm agents --all   every host skillpm knows"""
)
@click.option("--all", "every", is_flag=True, help="List hosts that are not here, too.")
@reading
def command(every: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """List agent hosts, where each reads skills, and which are linked."""
    call = call_of(flags)
    scope = call.scope
    found = known_agents(scope, call.tools)
    if call.console.as_json:
        call.console.data({"agents": [_value(agent) for agent in found]})
        return
    rows = [agent for agent in found if every or agent.present or agent.linked]
    ids, folders = 16, 24
    if any(ids + 8 + folders + 1 + len(agent.user_dir or "-") > room() for agent in rows):
        ids, folders = (
            max(map(len, cells)) for cells in zip(*((it.id, it.project_dir or "-") for it in rows), strict=True)
        )
    if rows and sys.stdout.isatty():
        call.console.line(f"{'agent':{ids}} {'state':7} {'in a project':{folders}} your own", bold=True)
    for agent in rows:
        state = "linked" if agent.linked or agent.shares else "here" if agent.present else ""
        row = f"{agent.id:{ids}} {state:7} {agent.project_dir or '-':{folders}} {agent.user_dir or '-'}"
        folder = agent.user_dir if scope.kind == "user" else agent.project_dir
        shared = f"  (shares {folder} with {', '.join(agent.shares)})" if agent.shares else ""
        if shared and len(row + shared) > room():  # below, where all the others have what they are
            call.console.line(row)
            row = " " * (ids + 7)
        call.console.line((row + shared).rstrip())
    if not rows:
        call.console.say("no agent host was found here; `skillpm agents --all` lists all that are known")
    elif not any(agent.linked or agent.shares for agent in rows):
        here = next((agent.id for agent in rows if agent.present), "")
        said = (
            f"{here}` shows the installed skills to it" if here else "AGENT` shows the installed skills to one of them"
        )
        call.console.say(f"`skillpm link{scope.flag} {said}")


def _value(agent: KnownAgent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "projectDir": agent.project_dir,
        "userDir": agent.user_dir,
        "present": agent.present,
        "linked": agent.linked,
        "shares": list(agent.shares),
    }
