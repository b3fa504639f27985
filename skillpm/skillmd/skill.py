"""A parsed SKILL.md: its fields normalized, its body, and the findings.

Fields may be at the top level or, as text, under `metadata`, the only place where the Agent Skills specification allows
more than its own six. The top level takes precedence. All other keys are kept unchanged in `extra`.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from skillpm.core.coercion import read_triggers, to_metadata, to_text, to_tools, to_words
from skillpm.core.names import is_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.system_requirements import SystemRequirements, read_system_requirements
from skillpm.core.text import estimate_tokens, one_line, sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.skillmd.findings import Finding, warning
from skillpm.skillmd.frontmatter import decode_text, find_key_lines, read_frontmatter

KEY_PREFIX = "mcp-"
SERVER_NAME = lazy_pattern(r"[A-Za-z0-9@][\w.@/-]{0,63}", re.ASCII)
COMMAND_NAME = lazy_pattern(r"[A-Za-z0-9_./@][\w./@+-]*", re.ASCII)


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


KNOWN_KEYS = frozenset(
    [
        *("name", "description", "version", "license", "compatibility", "category", "triggers", "trigger", "tags"),
        *("homepage", "author", "allowed-tools", "requires", "metadata", "mcp"),
    ]
)


class Skill(Value):
    """The fields of a SKILL.md. `declared` is the name in its frontmatter; empty if it has none."""

    declared: str
    description: str
    body: str
    version: str = ""
    license: str = ""
    compatibility: str = ""
    category: str = ""
    triggers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    homepage: str = ""
    author: str = ""
    requires: SystemRequirements = SystemRequirements()
    allowed_tools: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    metadata: Mapping[str, Any] = EMPTY_MAPPING
    extra: Mapping[str, Any] = EMPTY_MAPPING
    frontmatter: Mapping[str, Any] = EMPTY_MAPPING
    findings: tuple[Finding, ...] = ()

    @property
    def tokens(self) -> int:
        """The estimated number of tokens of the body."""
        return estimate_tokens(self.body)


def read_skill(data: bytes) -> Skill:
    """Parse the bytes of a SKILL.md. Raises `NotLoadable`."""
    text = decode_text(data)
    front = read_frontmatter(text)
    values = front.values
    metadata = to_metadata(values.get("metadata"))
    nested = EMPTY_MAPPING if metadata is None else metadata
    fields = {**nested, **{key: value for key, value in values.items() if value is not None}}

    lines: dict[str, int] = {}  # found when they are needed: most files have no findings

    def line_of(key: str) -> int:
        if not lines:
            lines.update({"": 1, **find_key_lines(text, front)})
        return lines.get(key, 1)

    findings = [*front.findings, *_check_fields(values, line_of)]
    return Skill(
        declared=to_text(values.get("name")),
        description=one_line(to_text(values.get("description"))),
        body=front.body,
        version=to_text(fields.get("version")),
        license=to_text(values.get("license")),
        compatibility=one_line(to_text(values.get("compatibility"))),
        category=to_text(fields.get("category")),
        triggers=read_triggers(values) or read_triggers(nested),
        tags=to_words(fields.get("tags")),
        homepage=to_text(fields.get("homepage")),
        author=to_text(fields.get("author")),
        requires=read_system_requirements(fields.get("requires"), nested),
        allowed_tools=to_tools(values.get("allowed-tools")),
        mcp_servers=read_mcp_servers(values, nested, findings, line_of=line_of),
        metadata=nested,
        extra={key: value for key, value in values.items() if _is_extra(key, known_metadata=metadata is not None)},
        frontmatter=values,
        findings=tuple(findings),
    )


def _is_extra(key: str, *, known_metadata: bool) -> bool:
    """Return whether a key belongs to no field. `metadata` does not if it could not be parsed."""
    if key == "metadata":
        return not known_metadata
    return key not in KNOWN_KEYS and not key.startswith(KEY_PREFIX)


def _check_fields(values: Mapping[str, Any], line_of: Callable[[str], int]) -> Iterator[Finding]:
    name = to_text(values.get("name"))
    if not name:
        yield warning("missing-name", "missing name; the folder's name is used", line_of("name"))
    elif not is_skill_name(name):
        yield warning("bad-name", "the name does not match the specification", line_of("name"))
    if not to_text(values.get("description")):
        message = "missing description, so models do not see this skill"
        yield warning("missing-description", message, line_of("description"))
