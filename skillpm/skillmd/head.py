"""The fields that discovery needs of a SKILL.md, read without its body.

The body is only read when the skill is loaded.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import one_line
from skillpm.core.values import EMPTY_MAPPING
from skillpm.skillmd.frontmatter import Frontmatter, decode_text, read_frontmatter
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

BOM = b"\xef\xbb\xbf"
COLON_VALUE = lazy_pattern(r"^([A-Za-z_]\w*)\s*:\s*([^\s\"'>|].*:.*)$")
# Values that Codex puts in quotes if the frontmatter is not valid YAML, up to a comment.
RISKY_VALUE = lazy_pattern(
    r"^(\s*(?:- )?[\w .-]+:\s+)(?![\"'|>])((?:[@`]|\[[^\]]*\]\s*\S|\{[^}]*\}|[^#]*:\s)(?:[^#]|(?<!\s)#)*)(.*)$"
)
MAX_NAME = 64
HEAD_SIZE = 16_384  # bytes; nearly all frontmatter is much shorter, and for the rest the whole file is read
# As `read_yaml` reports a key that the host reads, where it is there twice.
REPEATED = tuple(f"duplicate key `{key}`" for key in ("name", "description", "metadata"))
OPENING = lazy_pattern(rb"(?:\xef\xbb\xbf)?\s*(---(?!-)|\+\+\+(?!\+))[^\r\n]*[\r\n]")
CLOSING = {
    fence: re.compile(rb"[\r\n]" + re.escape(fence) + rb"[ \t]*(?=[\r\n])") for fence in (b"---", b"+++")
}  # fmt: skip


class SkillHead(NamedTuple):
    """The fields of a skill that discovery needs; empty if missing."""

    name: str
    description: str
    compatibility: str
    # The first thing that had to be repaired or ignored, with its line.
    problem: str
    # The language of its frontmatter: `yaml` or `toml`; empty without frontmatter.
    dialect: str
    # What only some hosts accept (`formats/host_profile.py`), with what a parser says of it; often empty.
    flaws: Mapping[str, str] = EMPTY_MAPPING


def extract_frontmatter(data: bytes) -> bytes | None:
    """Return the bytes of a file up to the end of its frontmatter; None if the end is not among these bytes."""
    opening = OPENING.match(data)
    if opening is None:
        return None
    closing = CLOSING[opening[1]].search(data, opening.end() - 1)
    return None if closing is None else data[: closing.end()]


def read_head(data: bytes) -> SkillHead:
    """Parse the frontmatter of a file. Raises `NotLoadable`."""
    front = read_frontmatter(decode_text(data))
    name, description, compatibility = (_to_line(front.values.get(key)) for key in SkillHead._fields[:3])
    problem = next((f"line {finding.line}: {finding.message}" for finding in front.findings), "")
    flaws = dict(_find_flaws(data, front))
    return SkillHead(name, description, compatibility, problem, front.dialect, flaws or EMPTY_MAPPING)


def _find_flaws(data: bytes, front: Frontmatter) -> Iterator[tuple[str, str]]:
    if data.startswith(BOM):
        yield "bom", ""
    if not data.removeprefix(BOM).startswith((b"---", b"+++")):
        yield "leading-blank", ""
    if any(key in front.values and not isinstance(front.values[key], str) for key in ("name", "description")):
        yield "untyped", ""
    yield from _find_wrong_types(front.values)
    if not front.findings or front.dialect != "yaml":
        return
    for finding in front.findings:
        if finding.code == "duplicate-key" and finding.message.startswith(REPEATED):
            yield "repeated", f"line {finding.line}"
            break
    text = decode_text(data)
    for flaw, quote in (("invalid", _quote_colon), ("unquotable", _quote_risky)):
        if yaml_error := _find_yaml_error(text, front, quote):
            yield flaw, yaml_error


def _find_wrong_types(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name, metadata = values.get("name"), values.get("metadata") or {}
    if isinstance(name, str) and len(name.strip()) > MAX_NAME:
        yield "long-name", ""
    if isinstance(name, list | dict):
        yield "mistyped", "name"
    elif not isinstance(metadata, dict):
        yield "mistyped", "metadata"
    elif isinstance(metadata.get("short-description"), list | dict):
        yield "mistyped", "metadata.short-description"


def _quote_colon(line: str) -> str:
    return COLON_VALUE.sub(lambda match: f"{match[1]}: |\n  {match[2]}", line)


def _quote_risky(line: str) -> str:
    return RISKY_VALUE.sub(lambda match: match[1] + json.dumps(match[2].rstrip()) + match[3], line)


def _find_yaml_error(text: str, front: Frontmatter, quote: Callable[[str], str]) -> str:
    """Return why frontmatter is invalid YAML even with values in quotes, as some hosts put them."""
    first = text[: len(text) - len(text.lstrip())].count("\n") + 2
    lines = text.lstrip().splitlines()[1 : front.body_line - first]
    quoted = [quote(line) for line in lines]
    try:
        read_yaml("\n".join(quoted) + "\n", [])
    except YamlError as error:
        if error.message.endswith("not supported"):
            return ""  # anchors and tags, which only skillpm refuses
        # A value may take two lines.
        numbers = [number for number, part in enumerate(quoted, first) for _ in part.split("\n")] or [first]
        return f"line {numbers[min(error.line, len(numbers)) - 1]}: {one_line(error.message)}"
    return ""


def _to_line(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""
