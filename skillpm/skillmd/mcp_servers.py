"""The Model Context Protocol servers that a skill brings, in their three spellings.

TOML `[mcp.NAME]` and YAML `mcp: {NAME: {command, args}}` are one shape; `mcp-NAME: command args…` is quoted as in a
shell, and may stand under `metadata`. Nothing is ever started by this tool, but what is listed here is what hosts
start: a command is one program's name or path, and no shell line.
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
    """A Model Context Protocol server that a skill brings: what to run."""

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
    """Give the servers, sorted by name; the top level wins over `metadata`, the table over single keys.

    One that cannot be meant is left out, with a warning; `line_of` tells where a top-level key stands.
    """
    found: dict[str, McpServer] = {}
    below = (("metadata", name, words) for name, words in _read_prefixed_keys(metadata))
    above = ((KEY_PREFIX + name, name, words) for name, words in _read_prefixed_keys(values))
    table = (("mcp", name, words) for name, words in _read_table(values.get("mcp")))
    for key, name, words in (*below, *above, *table):
        fault = _server_problem(name, words)
        if fault:
            message = f"the MCP server `{sanitize(name, 64)}` is left out: {fault}"
            findings.append(Finding(code="mcp-left-out", level="warning", message=message, line=line_of(key)))
        else:
            found[name] = McpServer(name=name, command=words[0], args=tuple(words[1:]))
    return tuple(found[name] for name in sorted(found))


def _read_prefixed_keys(values: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    for key, value in values.items():
        if key.startswith(KEY_PREFIX) and value is not None:
            yield key.removeprefix(KEY_PREFIX), _split_command(value)


def _split_command(value: Any) -> list[Any]:
    try:
        return shlex.split(value) if isinstance(value, str) else []
    except ValueError:  # a quote that is not closed
        return []


def _read_table(table: Any) -> Iterator[tuple[str, list[Any]]]:
    for name, entry in table.items() if isinstance(table, dict) else ():
        if isinstance(entry, str):
            yield name, _split_command(entry)
        elif isinstance(entry, dict):
            args = entry.get("args")
            yield name, [entry.get("command"), *(args if isinstance(args, list) else _split_command(args))]


def _server_problem(name: str, words: list[Any]) -> str:
    """Say why this cannot be a server, or nothing."""
    if not SERVER_NAME.fullmatch(name):
        return "its name may have letters, digits and `. _ - @ /` only"
    if not words or not all(isinstance(word, str) for word in words):
        return "its command is no text with arguments"
    if not COMMAND_NAME.fullmatch(words[0]):
        return "its command may have letters, digits and `. _ - + @ /` only"
    return ""
