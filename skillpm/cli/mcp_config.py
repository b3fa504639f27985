"""What MCP hosts have in their configuration for a server, and in which file."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.core.values import Value


class McpHost(Value):
    """A host: its file, and the key below which its servers stand."""

    file: str
    key: str = "mcpServers"
    is_json: bool = True
    has_one_list: bool = False

    def snippet(self, words: Sequence[str]) -> str:
        """Write the part of the file that starts a server by a command line, whole."""
        program, *arguments = words
        entry: dict[str, Any] = {"command": program, "args": arguments}
        if self.has_one_list:
            entry = {"type": "local", "command": list(words), "enabled": True}
        if self.is_json:
            return json.dumps({self.key: {"skillpm": entry}}, indent=2, ensure_ascii=False)
        pairs = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items())
        return "\n".join([f"[{self.key}.skillpm]", *pairs])


HOSTS: Mapping[str, McpHost] = {
    "claude-code": McpHost(file=".mcp.json"),
    "codex": McpHost(file="~/.codex/config.toml", key="mcp_servers", is_json=False),
    "cursor": McpHost(file=".cursor/mcp.json"),
    "opencode": McpHost(file="opencode.json", key="mcp", has_one_list=True),
}
