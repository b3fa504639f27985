"""A SKILL.md as a value: its fields normalised, its body, and what was found while reading.

Fields may stand at the top level or, as text, under `metadata` (the only place where the Agent Skills
specification allows more than its own six); the top level wins. Everything else is kept as found in `extra`.
"""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from skillpm.documents.findings import Finding
from skillpm.documents.frontmatter import decode_text, read_frontmatter
from skillpm.documents.names import is_skill_name
from skillpm.documents.text import one_line
from skillpm.values import NOTHING, Value

KNOWN = frozenset(
    [
        *("name", "description", "version", "license", "compatibility", "category", "triggers", "trigger", "tags"),
        *("homepage", "author", "allowed-tools", "requires", "metadata", "mcp"),
    ]
)
PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]*", re.ASCII)
COMMAND = re.compile(r"[\w./@+-]+", re.ASCII)


class McpServer(Value):
    """A Model Context Protocol server that a skill brings: what to run."""

    name: str
    command: str
    args: tuple[str, ...] = ()


class Skill(Value):
    """What a SKILL.md says. `declared` is the name it gives itself; empty where it gives none."""

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
    requires: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    metadata: Mapping[str, Any] = NOTHING
    extra: Mapping[str, Any] = NOTHING
    frontmatter: Mapping[str, Any] = NOTHING
    findings: tuple[Finding, ...] = ()

    @property
    def tokens(self) -> int:
        """An estimate of what the body costs a model: four bytes a token."""
        return (len(self.body.encode()) + 3) // 4


def read_skill(data: bytes) -> Skill:
    """Read the bytes of a SKILL.md. Raises `NotLoadable` with the finding that says why not."""
    front = read_frontmatter(decode_text(data))
    values = front.values
    metadata = values.get("metadata")
    nested = metadata if isinstance(metadata, dict) else {}
    fields = {key: value for key, value in nested.items() if isinstance(value, str)} | {
        key: value for key, value in values.items() if value is not None
    }
    return Skill(
        declared=_text(values.get("name")),
        description=one_line(_text(values.get("description"))),
        body=front.body,
        version=_text(fields.get("version")),
        license=_text(values.get("license")),
        compatibility=one_line(_text(values.get("compatibility"))),
        category=_text(fields.get("category")),
        triggers=_words(fields.get("triggers")) or _words(fields.get("trigger"), "|,"),
        tags=_words(fields.get("tags")),
        homepage=_text(fields.get("homepage")),
        author=_text(fields.get("author")),
        requires=_programs(fields.get("requires"), nested),
        allowed_tools=_tools(values.get("allowed-tools")),
        mcp_servers=_servers(values, nested),
        metadata=nested,
        extra={key: value for key, value in values.items() if key not in KNOWN and not key.startswith("mcp-")},
        frontmatter=values,
        findings=(*front.findings, *_remarks(values)),
    )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _words(value: Any, separators: str = ",|") -> tuple[str, ...]:
    """Give a list of words from a list, or from text with separators; each once, in order."""
    parts = value if isinstance(value, list) else re.split(f"[{re.escape(separators)}]", _text(value))
    return tuple(dict.fromkeys(one_line(part) for part in parts if isinstance(part, str) and part.strip()))


def _programs(value: Any, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the programs a skill needs on PATH, from `requires` in its shapes or from openclaw's metadata."""
    if value is None:
        hosts = (_table(metadata.get(key)) for key in ("openclaw", "clawdbot", "clawdis", "moltbot"))
        value = next((host.get("requires") for host in hosts if host), None)
    if isinstance(value, dict):
        value = value.get("bins")
    return tuple(word for word in _words(value, ", ") if PROGRAM.fullmatch(word))


def _table(value: Any) -> Mapping[str, Any]:
    """Give an object that is nested YAML or, since the specification wants text under `metadata`, JSON in a string."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return NOTHING
    return value if isinstance(value, dict) else NOTHING


def _tools(value: Any) -> tuple[str, ...]:
    """Give allowed tools from a list or from text with commas or blanks, parentheses respected."""
    if isinstance(value, list):
        return tuple(item.strip() for item in value if isinstance(item, str) and item.strip())
    return tuple(re.findall(r"[^\s,()]+(?:\([^)]*\))?", _text(value)))


def _servers(values: Mapping[str, Any], metadata: Mapping[str, Any]) -> tuple[McpServer, ...]:
    """Give MCP servers from a table `mcp`, or from `mcp-NAME: command args…`, here or under `metadata`."""
    found: dict[str, McpServer] = {}
    for key, value in [*metadata.items(), *values.items()]:
        if key.startswith("mcp-") and isinstance(value, str):
            try:
                words = shlex.split(value)
            except ValueError:
                continue
            _add_server(found, key.removeprefix("mcp-"), words)
    table = values.get("mcp")
    for name, entry in table.items() if isinstance(table, dict) else ():
        args = entry.get("args") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(entry.get("command"), str):
            _add_server(found, name, [entry["command"], *(args if isinstance(args, list) else [])])
    return tuple(found[name] for name in sorted(found))


def _add_server(found: dict[str, McpServer], name: str, words: list[Any]) -> None:
    if name and words and all(isinstance(word, str) for word in words) and COMMAND.fullmatch(words[0]):
        found[name] = McpServer(name=name, command=words[0], args=tuple(words[1:]))


def _remarks(values: Mapping[str, Any]) -> tuple[Finding, ...]:
    name = _text(values.get("name"))
    remarks = []
    if not name:
        remarks.append(("missing-name", "there is no name; the folder's name counts"))
    elif not is_skill_name(name):
        remarks.append(("bad-name", "the name is outside the specification's grammar"))
    if not _text(values.get("description")):
        remarks.append(("missing-description", "there is no description, so models are not told of this skill"))
    return tuple(Finding(code=code, level="warning", message=message) for code, message in remarks)
