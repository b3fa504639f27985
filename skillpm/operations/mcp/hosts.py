"""How each host is told about an MCP server: the file, and the part of it that names the server."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.core.values import EMPTY_MAPPING, Value

SERVER_NAME = "skillpm"
TOKEN_VARIABLE = "SKILLPM_MCP_TOKEN"  # noqa: S105  (its name)


class McpHost(Value):
    """The configuration file of a host."""

    file: str
    # The documentation of the format.
    source: str
    servers_key: str = "mcpServers"
    # Else TOML.
    is_json: bool = True
    # Keys that an entry has besides `command` and `args`.
    stdio: Mapping[str, Any] = EMPTY_MAPPING
    # The program and its arguments are one list, as in OpenCode.
    has_command_list: bool = False
    # The key for the address of a server over HTTP, empty if the host takes none; and the other keys with it.
    url_key: str = "url"
    http: Mapping[str, Any] = EMPTY_MAPPING
    # How the host refers to an environment variable in a header; empty if it cannot.
    variable: str = ""

    def render_command(self, command_line: Sequence[str]) -> str:
        """Return the part of the configuration that starts a server with this command line."""
        program, *arguments = command_line
        command = {"command": list(command_line)} if self.has_command_list else {"command": program, "args": arguments}
        return self._render({**self.stdio, **command})

    def render_address(self, url: str, *, needs_token: bool) -> str:
        """Return the part of the configuration that names a server over HTTP."""
        entry = {**self.http, self.url_key: url}
        if needs_token and not self.is_json:
            entry["bearer_token_env_var"] = TOKEN_VARIABLE
        elif needs_token:
            entry["headers"] = {"Authorization": f"Bearer {self.variable or TOKEN_VARIABLE}"}
        return self._render(entry)

    def _render(self, entry: Mapping[str, Any]) -> str:
        if self.is_json:
            return json.dumps({self.servers_key: {SERVER_NAME: dict(entry)}}, indent=2, ensure_ascii=False)
        pairs = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items())
        return "\n".join([f"[{self.servers_key}.{SERVER_NAME}]", *pairs])


MCP_HOSTS: Mapping[str, McpHost] = {
    "amp": McpHost(
        file=".amp/settings.json",
        source="https://ampcode.com/manual#mcp",
        servers_key="amp.mcpServers",
    ),
    "claude-code": McpHost(
        file=".mcp.json",
        source="https://code.claude.com/docs/en/mcp",
        http={"type": "http"},
        variable=f"${{{TOKEN_VARIABLE}}}",
    ),
    "claude-desktop": McpHost(
        file="claude_desktop_config.json (Settings > Developer > Edit Config)",
        source="https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        url_key="",
    ),
    "cline": McpHost(
        file="cline_mcp_settings.json (MCP Servers > Configure)",
        source="https://docs.cline.bot/mcp/configuring-mcp-servers",
        http={"type": "streamableHttp"},
    ),
    "codex": McpHost(
        file="~/.codex/config.toml",
        source="https://developers.openai.com/codex/mcp",
        servers_key="mcp_servers",
        is_json=False,
    ),
    "cursor": McpHost(
        file=".cursor/mcp.json", source="https://cursor.com/docs/context/mcp", variable=f"${{env:{TOKEN_VARIABLE}}}"
    ),
    "gemini-cli": McpHost(
        file=".gemini/settings.json",
        source="https://geminicli.com/docs/tools/mcp-server/",
        url_key="httpUrl",
        variable=f"${TOKEN_VARIABLE}",
    ),
    "github-copilot": McpHost(
        file="~/.copilot/mcp-config.json",
        source="https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
        stdio={"type": "local", "tools": ["*"]},
        http={"type": "http", "tools": ["*"]},
        variable=f"${{{TOKEN_VARIABLE}}}",
    ),
    "kiro-cli": McpHost(file=".kiro/settings/mcp.json", source="https://kiro.dev/docs/mcp/configuration/"),
    "opencode": McpHost(
        file="opencode.json",
        source="https://opencode.ai/docs/mcp-servers/",
        servers_key="mcp",
        stdio={"type": "local", "enabled": True},
        has_command_list=True,
        http={"type": "remote", "enabled": True},
        variable=f"{{env:{TOKEN_VARIABLE}}}",
    ),
    "qwen-code": McpHost(
        file=".qwen/settings.json",
        source="https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
        url_key="httpUrl",
        variable=f"${TOKEN_VARIABLE}",
    ),
    "roo": McpHost(
        file=".roo/mcp.json",
        source="https://docs.roocode.com/features/mcp/using-mcp-in-roo",
        http={"type": "streamable-http"},
        variable=f"${{env:{TOKEN_VARIABLE}}}",
    ),
    "vscode": McpHost(
        file=".vscode/mcp.json",
        source="https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
        servers_key="servers",
        stdio={"type": "stdio"},
        http={"type": "http"},
        variable=f"${{env:{TOKEN_VARIABLE}}}",
    ),
    "windsurf": McpHost(
        file="~/.codeium/windsurf/mcp_config.json",
        source="https://docs.windsurf.com/windsurf/cascade/mcp",
        url_key="serverUrl",
        variable=f"${{env:{TOKEN_VARIABLE}}}",
    ),
    "zed": McpHost(
        file="settings.json (command palette: zed: open settings file)",
        source="https://zed.dev/docs/ai/mcp",
        servers_key="context_servers",
    ),
}
