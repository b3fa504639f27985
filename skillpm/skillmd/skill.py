"""A parsed SKILL.md: its fields normalized, its body, and the findings.

Fields may be at the top level or, as text, under `metadata`, the only place where the Agent Skills specification allows
more than its own six. The top level takes precedence. All other keys are kept unchanged in `extra`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from skillpm.core.coercion import to_metadata, to_text, to_tools, to_triggers, to_words
from skillpm.core.names import is_skill_name
from skillpm.core.system_requirements import SystemRequirements, read_system_requirements
from skillpm.core.text import one_line
from skillpm.core.token_estimate import estimate_tokens
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.skillmd.findings import Finding, warning
from skillpm.skillmd.frontmatter import decode_text, find_key_lines, read_frontmatter
from skillpm.skillmd.mcp_servers import KEY_PREFIX, McpServer, read_mcp_servers

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

    @cache  # most files have no findings, and need no line numbers
    def lines() -> Mapping[str, int]:
        return find_key_lines(text, front)

    def line_of(key: str) -> int:
        return lines().get(key, 1)

    findings = [*front.findings, *_check_fields(values, line_of)]
    return Skill(
        declared=to_text(values.get("name")),
        description=one_line(to_text(values.get("description"))),
        body=front.body,
        version=to_text(fields.get("version")),
        license=to_text(values.get("license")),
        compatibility=one_line(to_text(values.get("compatibility"))),
        category=to_text(fields.get("category")),
        triggers=to_triggers(fields.get("triggers")) or to_triggers(fields.get("trigger"), "|,"),
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
