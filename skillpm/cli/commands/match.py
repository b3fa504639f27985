"""`skillpm match`."""

from typing import Any

import click

from skillpm.cli.options import create_invocation
from skillpm.cli.serve_options import create_service, viewer_options
from skillpm.core.text import sanitize


@click.command(
    epilog="""\b
Examples:
  skillpm match "take a screenshot of our site"  by the skills' triggers
  skillpm match --whole-words "pr for april"     `pr` is not in `april`
  skillpm match --json "browse to the docs"      with MCP servers to start"""
)
@click.argument("message")
@click.option("--whole-words", is_flag=True, help="A trigger counts only as words of their own.")
@viewer_options
def command(message: str, whole_words: bool, **flags: Any) -> None:  # noqa: FBT001  (an option)
    """Tell which skills a message calls for by their triggers, and the MCP servers that they bring."""
    call = create_invocation(flags)
    service = create_service(call)
    match = service.match(message, whole_words=whole_words)
    servers = [{"name": server.name, "command": server.command, "args": list(server.args)} for server in match.servers]
    if call.console.as_json:
        unusable = [{"name": told.card.name, "needs": list(told.missing)} for told in match.unusable]
        call.console.print_json(
            {"skills": [card.name for card in match.skills], "mcpServers": servers, "unusable": unusable}
        )
        return
    for card in match.skills:
        call.console.print_line(card.name)
    for server in match.servers:
        call.console.print_line(f"mcp {server.name}: {' '.join([server.command, *server.args])}")
    for told in match.unusable:
        call.console.print_message(
            f"{sanitize(told.card.name, 64)} is called for, but needs {sanitize(', '.join(told.missing), 80)}"
        )
    if not match.skills and not match.unusable:
        has_some = any(card.triggers for card in service.visible.values()) or not service.visible
        way = "" if has_some else "; none here has any: `skillpm search` looks at names and descriptions"
        call.console.print_message(f"no skill has a trigger in that message{way}")
