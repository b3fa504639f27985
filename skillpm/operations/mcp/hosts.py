"""The configuration of an MCP server for each host: the file, and the part of it that names the server."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.agent_hosts.known_agents import AGENTS_FILE
from skillpm.core.json_text.decoder import parse_json
from skillpm.core.values import EMPTY_MAPPING, Value

SERVER_NAME = "skillpm"
TOKEN_VARIABLE = "SKILLPM_MCP_TOKEN"  # noqa: S105  (its name)


class McpHost(Value):
    """The configuration file of a host (`profiles/mcp_hosts.json`)."""

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


def _read_hosts() -> Mapping[str, McpHost]:
    file = os.path.join(os.path.dirname(AGENTS_FILE), "mcp_hosts.json")
    with open(file, encoding="utf-8") as text:
        return {name: McpHost(**entry.value) for name, entry in parse_json(text.read(), file).items()}


MCP_HOSTS = _read_hosts()
