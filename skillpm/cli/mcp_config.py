"""MCP server configuration of known hosts: the file, and the snippet that starts `skillpm mcp`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.core.values import Value


class McpHost(Value):
    """The format of a host's configuration."""

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
