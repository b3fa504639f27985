"""`skillpm mcp`."""

import json
import sys
from typing import Any

import click

from skillpm.cli.common import call_of
from skillpm.cli.serving import service_for, serving, style_option
from skillpm.errors import UsageError

JSON_HOSTS = {
    "claude-code": (".mcp.json", "mcpServers", {"command": "skillpm", "args": ["mcp"]}),
    "cursor": (".cursor/mcp.json", "mcpServers", {"command": "skillpm", "args": ["mcp"]}),
    "opencode": ("opencode.json", "mcp", {"type": "local", "command": ["skillpm", "mcp"], "enabled": True}),
}
CODEX = '[mcp_servers.skillpm]\ncommand = "skillpm"\nargs = ["mcp"]'


@click.command(
    epilog="""\b
Examples:
  skillpm mcp                              serve over stdin and stdout
  skillpm mcp --print-config claude-code   for the host's configuration
  skillpm mcp --check                      what `skills/list` leaves out"""
)
@click.option(
    "--print-config", type=click.Choice([*JSON_HOSTS, "codex"]), metavar="HOST", help="Print what a host needs."
)
@click.option("--check", is_flag=True, help="Tell which skills are not published, and why.")
@style_option
@serving
def command(*, print_config: str | None, check: bool, style: str, **flags: Any) -> int:
    """Serve skills over the Model Context Protocol: a tool, resources, and the Skills extension."""
    call = call_of({**flags, "style": style})
    if print_config is not None:
        call.console.line(_configuration(print_config))
        return 0
    if check:
        from skillpm.serving.publishing import Publisher  # noqa: PLC0415

        service = service_for(call)
        publisher = Publisher(service)
        found = {name: publisher.publish(card) for name, card in service.visible.items()}
        left_out = {name: published.why_not for name, published in found.items() if published.entry is None}
        if call.console.as_json:
            rows = [{"name": name, "why": why} for name, why in left_out.items()]
            call.console.data({"ok": not left_out, "published": len(found) - len(left_out), "leftOut": rows})
        else:
            for name, why in left_out.items():
                call.console.line(f"{name}: {why}")
            call.console.say(f"{len(found) - len(left_out)} of {len(found)} skills are published")
        return 1 if left_out else 0
    try:
        from skillpm.serving.mcp_server import serve  # noqa: PLC0415  (an extra; and it takes a second)
    except ImportError as error:
        hint = "pip install 'agent-skillpm[mcp]'"
        raise UsageError("serving over MCP needs a package that is not installed", hint=hint) from error
    service = service_for(call)
    if sys.stdin.isatty():
        call.console.say("an MCP host starts this command and speaks to it; end it with Ctrl-C")
    serve(service)
    return 0


def _configuration(host: str) -> str:
    if host == "codex":
        return f"# ~/.codex/config.toml\n{CODEX}"
    file, key, value = JSON_HOSTS[host]
    return f"// {file}\n" + json.dumps({key: {"skillpm": value}}, indent=2)
