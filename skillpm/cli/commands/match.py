"""`skillpm match`."""

import click

from skillpm.cli.options import Invocation
from skillpm.cli.serve_options import create_service, viewer_options, warn_of_refusals
from skillpm.core.text import sanitize


@click.command(
    epilog="""\b
Examples:
  skillpm match "take a screenshot of our site"  skills with such a trigger
  skillpm match --whole-words "pr for april"     `pr` does not match `april`
  skillpm match --json "browse to the docs"      with MCP servers to start"""
)
@click.argument("message", help="The message to search for triggers.")
@click.option("--whole-words", is_flag=True, help="Match triggers only as whole words.")
@viewer_options
def command(call: Invocation, message: str, whole_words: bool) -> None:  # noqa: FBT001  (an option)
    """Find the skills whose triggers match a message, and the MCP servers that they need."""
    service = create_service(call)
    match = service.match(message, whole_words=whole_words)
    warn_of_refusals(call, service)
    servers = [{"name": server.name, "command": server.command, "args": list(server.args)} for server in match.servers]
    if call.console.as_json:
        unusable = [{"name": skill.card.name, "needs": list(skill.missing)} for skill in match.unusable]
        call.console.print_json(
            {"skills": [card.name for card in match.skills], "mcpServers": servers, "unusable": unusable}
        )
        return
    for card in match.skills:
        call.console.print_line(card.name)
    for server in match.servers:
        call.console.print_line(f"mcp {server.name}: {' '.join([server.command, *server.args])}")
    for skill in match.unusable:
        call.console.print_message(
            f"{sanitize(skill.card.name, 64)} matches, but needs {sanitize(', '.join(skill.missing), 80)}"
        )
    if not match.skills and not match.unusable:
        has_triggers = any(card.triggers for card in service.visible.values()) or not service.visible
        hint = "" if has_triggers else ": no skill here has triggers; `skillpm search` matches names and descriptions"
        call.console.print_message(f"no trigger matches that message{hint}")
