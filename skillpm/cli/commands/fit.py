"""`skillpm fit`."""

import click

from skillpm.cli.options import Invocation, scope_options
from skillpm.core.text import pluralize, sanitize
from skillpm.operations.fit import fit


@click.command(
    epilog="""\b
Examples:
  skillpm fit --agent claude-code           which skills to list by name
  skillpm fit --agent claude-code --write   write it to .claude/settings.json"""
)
@click.option("--agent", required=True, metavar="ID", help="The agent host.")
@click.option("--write", is_flag=True, help="Save the choice in the host's settings.")
@scope_options
def command(call: Invocation, agent: str, *, write: bool) -> None:
    """Fit the skill list into a host's budget by listing the least relevant skills by name only."""
    result = fit(call.scope, call.session.settings, agent, write=write)
    if call.console.as_json:
        value = {"agent": result.agent, "file": result.file, "nameOnly": list(result.names), "skills": result.total}
        call.console.print_json({**value, "written": result.is_written})
        return
    for name in result.names:
        call.console.print_line(sanitize(name, 64))
    if not result.names:
        call.console.print_message(f"{agent} shows what it should of {pluralize(result.total, 'skill')}")
    elif result.is_written:
        call.console.print_message(f"wrote {pluralize(len(result.names), 'override')} to {result.file}")
    else:
        call.console.print_message(
            f"{len(result.names)} of {pluralize(result.total, 'skill')} by name alone make room for the others; "
            "`--write` saves the choice in the host's settings"
        )
