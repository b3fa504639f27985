"""Output of `search --triggers`: the skills that a message calls for."""

from skillpm.cli.options import Invocation
from skillpm.cli.serve_options import create_service, warn_of_refusals
from skillpm.core.text import sanitize


def print_triggered(call: Invocation, message: str, *, whole_words: bool) -> None:
    """Print the skills whose triggers occur in a message, and the MCP servers that they need."""
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
