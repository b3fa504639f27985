"""`skillpm mcp`."""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from skillpm.cli.options import Invocation
from skillpm.cli.serve_options import create_service, style_option, viewer_options
from skillpm.core.text import pluralize, sanitize
from skillpm.core.values import Value
from skillpm.errors import UsageError


class McpHost(Value):
    """The MCP server configuration of a host: the file, and the format of the snippet that starts `skillpm mcp`."""

    config_file: str
    servers_key: str = "mcpServers"
    # Else TOML.
    is_json: bool = True
    # The program and its arguments are one list, as in OpenCode.
    has_command_list: bool = False

    def render_snippet(self, command_line: Sequence[str]) -> str:
        """Return the part of the configuration that starts a server with this command line."""
        program, *arguments = command_line
        entry: dict[str, Any] = {"command": program, "args": arguments}
        if self.has_command_list:
            entry = {"type": "local", "command": list(command_line), "enabled": True}
        if self.is_json:
            return json.dumps({self.servers_key: {"skillpm": entry}}, indent=2, ensure_ascii=False)
        pairs = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items())
        return "\n".join([f"[{self.servers_key}.skillpm]", *pairs])


MCP_HOSTS: Mapping[str, McpHost] = {
    "claude-code": McpHost(config_file=".mcp.json"),
    "codex": McpHost(config_file="~/.codex/config.toml", servers_key="mcp_servers", is_json=False),
    "cursor": McpHost(config_file=".cursor/mcp.json"),
    "opencode": McpHost(config_file="opencode.json", servers_key="mcp", has_command_list=True),
}


@click.command(
    epilog="""\b
Examples:
  skillpm mcp                              serve over stdin and stdout
  skillpm mcp --print-config claude-code   print the host's configuration
  skillpm mcp --check                      list skills that are not published"""
)
@click.option(
    "--print-config",
    is_flag=False,
    flag_value="",
    metavar="HOST",
    help=f"Print the configuration for a host: {', '.join(MCP_HOSTS)}.",
)
@click.option("--check", is_flag=True, help="List the skills that are not published, with the reason.")
@style_option
@viewer_options
def command(call: Invocation, *, print_config: str | None, check: bool) -> int:
    """Serve skills over the Model Context Protocol: a tool, resources, and the Skills extension."""
    if print_config is not None:
        host = MCP_HOSTS.get(print_config)
        command_line = [*_find_program(), "mcp", *_build_server_flags(call.flags)]
        if host is None:
            problem = f"unknown host `{sanitize(print_config, 80)}`" if print_config else "--print-config needs a host"
            hint = f"for any other host, configure a stdio server with the command `{' '.join(command_line)}`"
            raise UsageError(f"{problem}; known hosts: {', '.join(MCP_HOSTS)}", hint=hint)
        call.console.print_message(f"add this to {host.config_file}:")
        call.console.print_line(host.render_snippet(command_line))
        return 0
    if check:
        from skillpm.serving.mcp.resources import ResourcePublisher  # noqa: PLC0415

        service = create_service(call)
        publisher = ResourcePublisher(service)
        resources = {name: publisher.publish(card) for name, card in service.visible.items()}
        rejected = {name: resource.rejection_reason for name, resource in resources.items() if resource.entry is None}
        count = len(resources) - len(rejected)
        if call.console.as_json:
            rows = [{"name": name, "why": reason} for name, reason in rejected.items()]
            call.console.print_json({"ok": not rejected, "published": count, "leftOut": rows})
        else:
            for name, reason in rejected.items():
                call.console.print_line(f"{name}: {reason}")
            call.console.print_message(f"{count} of {pluralize(len(resources), 'skill')} published")
        return 1 if rejected else 0
    try:
        from skillpm.serving.mcp.server import serve  # noqa: PLC0415  (an optional dependency, and it takes a second)
    except ImportError as error:
        hint = "pip install 'agent-skillpm[mcp]'"
        raise UsageError("serving over MCP needs a package that is not installed", hint=hint) from error
    service = create_service(call)
    if sys.stdin.isatty():
        call.console.print_message("waiting for an MCP host on stdin; press Ctrl-C to stop")
    serve(service)
    return 0


def _find_program() -> list[str]:
    """Return the command that starts skillpm: `skillpm` if it is on PATH, else this Python with `-m skillpm`."""
    return ["skillpm"] if shutil.which("skillpm") else [sys.executable, "-m", "skillpm"]


def _build_server_flags(flags: Mapping[str, Any]) -> list[str]:
    """Return the options of this command line that the server must be started with as well."""
    options = ["-g"] if flags["user"] else []
    if flags["project"]:
        options += ["--project", os.path.abspath(flags["project"])]
    for name in ("profile", "agent", "host"):
        options += [f"--{name}", flags[name]] if flags[name] else []
    return options + (["--style", flags["style"]] if flags["style"] != "default" else [])
