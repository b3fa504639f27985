"""A SKILL.md as a value: its fields normalised, its body, and what was found while reading.

Fields may stand at the top level or, as text, under `metadata` (the only place where the Agent Skills
specification allows more than its own six); the top level wins. Everything else is kept as found in `extra`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from skillpm.core.coercion import metadata_of, text_of, tools_of, triggers_of, words_of
from skillpm.core.names import is_skill_name
from skillpm.core.system_requirements import Requires, requires_of
from skillpm.core.text import one_line
from skillpm.core.token_estimate import tokens_in
from skillpm.core.values import NOTHING, Value
from skillpm.skillmd.findings import Finding, warning
from skillpm.skillmd.frontmatter import decode_text, lines_of_keys, read_frontmatter
from skillpm.skillmd.mcp_servers import PREFIX, McpServer, servers_of

KNOWN = frozenset(
    [
        *("name", "description", "version", "license", "compatibility", "category", "triggers", "trigger", "tags"),
        *("homepage", "author", "allowed-tools", "requires", "metadata", "mcp"),
    ]
)


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
    requires: Requires = Requires()
    allowed_tools: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    metadata: Mapping[str, Any] = NOTHING
    extra: Mapping[str, Any] = NOTHING
    frontmatter: Mapping[str, Any] = NOTHING
    findings: tuple[Finding, ...] = ()

    @property
    def tokens(self) -> int:
        """An estimate of what the body costs a model."""
        return tokens_in(self.body)


def read_skill(data: bytes) -> Skill:
    """Read the bytes of a SKILL.md. Raises `NotLoadable` with the finding that says why not."""
    text = decode_text(data)
    front = read_frontmatter(text)
    values = front.values
    metadata = metadata_of(values.get("metadata"))
    nested = NOTHING if metadata is None else metadata
    fields = {**nested, **{key: value for key, value in values.items() if value is not None}}

    @cache
    def lines() -> Mapping[str, int]:
        return lines_of_keys(text, front)

    def line_of(key: str) -> int:
        return lines().get(key, 1)

    findings = [*front.findings, *_remarks(values, line_of)]
    return Skill(
        declared=text_of(values.get("name")),
        description=one_line(text_of(values.get("description"))),
        body=front.body,
        version=text_of(fields.get("version")),
        license=text_of(values.get("license")),
        compatibility=one_line(text_of(values.get("compatibility"))),
        category=text_of(fields.get("category")),
        triggers=triggers_of(fields.get("triggers")) or triggers_of(fields.get("trigger"), "|,"),
        tags=words_of(fields.get("tags")),
        homepage=text_of(fields.get("homepage")),
        author=text_of(fields.get("author")),
        requires=requires_of(fields.get("requires"), nested),
        allowed_tools=tools_of(values.get("allowed-tools")),
        mcp_servers=servers_of(values, nested, findings, line_of=line_of),
        metadata=nested,
        extra={key: value for key, value in values.items() if _is_extra(key, known_metadata=metadata is not None)},
        frontmatter=values,
        findings=tuple(findings),
    )


def _is_extra(key: str, *, known_metadata: bool) -> bool:
    """Tell whether a key is kept as found: one that no field was made of."""
    if key == "metadata":
        return not known_metadata
    return key not in KNOWN and not key.startswith(PREFIX)


def _remarks(values: Mapping[str, Any], line_of: Callable[[str], int]) -> Iterator[Finding]:
    name = text_of(values.get("name"))
    if not name:
        yield warning("missing-name", "there is no name; the folder's name counts", line_of("name"))
    elif not is_skill_name(name):
        yield warning("bad-name", "the name is outside the specification's grammar", line_of("name"))
    if not text_of(values.get("description")):
        message = "there is no description, so models are not told of this skill"
        yield warning("missing-description", message, line_of("description"))
