"""The Model Context Protocol servers that a skill declares, in any of three spellings.

TOML `[mcp.NAME]` and YAML `mcp: {NAME: {command, args}}` have the same form; `mcp-NAME: command args…` is quoted as in
a shell, and may be under `metadata`. skillpm never starts a server, but hosts do: a command is the name or path of one
program, not a shell command line.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.skillmd.findings import Finding

KEY_PREFIX = "mcp-"
SERVER_NAME = re.compile(r"[A-Za-z0-9@][\w.@/-]{0,63}", re.ASCII)
COMMAND_NAME = re.compile(r"[A-Za-z0-9_./@][\w./@+-]*", re.ASCII)


class McpServer(Value):
    """A Model Context Protocol server and the command that starts it."""

    name: str
    command: str
    args: tuple[str, ...] = ()


def read_mcp_servers(
    values: Mapping[str, Any],
    metadata: Mapping[str, Any],
    findings: list[Finding],
    *,
    line_of: Callable[[str], int] = lambda _: 1,
) -> tuple[McpServer, ...]:
    """Return the servers, sorted by name. The top level overrides `metadata`, the table overrides single keys.

    An invalid server is skipped with a warning; `line_of` returns the line of a top-level key.
    """
    servers: dict[str, McpServer] = {}
    nested = (("metadata", name, words) for name, words in _read_prefixed_keys(metadata))
    top_level = ((KEY_PREFIX + name, name, words) for name, words in _read_prefixed_keys(values))
    table = (("mcp", name, words) for name, words in _read_table(values.get("mcp")))
    for key, name, words in (*nested, *top_level, *table):
        problem = _server_problem(name, words)
        if problem:
            message = f"the MCP server `{sanitize(name, 64)}` is ignored: {problem}"
            findings.append(Finding(code="mcp-left-out", level="warning", message=message, line=line_of(key)))
        else:
            servers[name] = McpServer(name=name, command=words[0], args=tuple(words[1:]))
    return tuple(servers[name] for name in sorted(servers))


def _read_prefixed_keys(values: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    for key, value in values.items():
        if key.startswith(KEY_PREFIX) and value is not None:
            yield key.removeprefix(KEY_PREFIX), _split_command(value)


def _split_command(value: Any) -> list[Any]:
    try:
        return shlex.split(value) if isinstance(value, str) else []
    except ValueError:  # unbalanced quotes
        return []


def _read_table(table: Any) -> Iterator[tuple[str, list[Any]]]:
    for name, entry in table.items() if isinstance(table, dict) else ():
        if isinstance(entry, str):
            yield name, _split_command(entry)
        elif isinstance(entry, dict):
            args = entry.get("args")
            yield name, [entry.get("command"), *(args if isinstance(args, list) else _split_command(args))]


def _server_problem(name: str, words: list[Any]) -> str:
    """Return what is wrong with a server; empty if it is valid."""
    if not SERVER_NAME.fullmatch(name):
        return "its name may contain only letters, digits and `. _ - @ /`"
    if not words or not all(isinstance(word, str) for word in words):
        return "its command must be text with arguments"
    if not COMMAND_NAME.fullmatch(words[0]):
        return "its command may contain only letters, digits and `. _ - + @ /`"
    return ""
