"""The fields that discovery needs of a SKILL.md, read without its body.

The body is only read when the skill is loaded.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import one_line
from skillpm.skillmd.frontmatter import Frontmatter, decode_text, read_frontmatter
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

BOM = b"\xef\xbb\xbf"
COLON_VALUE = lazy_pattern(r"^([A-Za-z_]\w*)\s*:\s*([^\s\"'>|].*:.*)$")
HEAD_SIZE = 16_384  # bytes; nearly all frontmatter is much shorter, and for the rest the whole file is read
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
    # What only some hosts accept: a byte order mark (`bom`) or blank lines (`leading-blank`) before it, YAML that is
    # not valid even with all values in quotes that contain a colon (`invalid`), a name or description that is no text
    # (`untyped`).
    flaws: frozenset[str] = frozenset()
    # What the YAML parser says about the flaw `invalid`, with the line.
    yaml_error: str = ""


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
    flaws = frozenset(_find_flaws(data, front))
    yaml_error = _find_yaml_error(data, front)
    flaws = flaws | {"invalid"} if yaml_error else flaws
    return SkillHead(name, description, compatibility, problem, front.dialect, flaws, yaml_error)


def _find_flaws(data: bytes, front: Frontmatter) -> Iterator[str]:
    if data.startswith(BOM):
        yield "bom"
    if not data.removeprefix(BOM).startswith((b"---", b"+++")):
        yield "leading-blank"
    if any(key in front.values and not isinstance(front.values[key], str) for key in ("name", "description")):
        yield "untyped"


def _find_yaml_error(data: bytes, front: Frontmatter) -> str:
    """Return why frontmatter is invalid YAML even with values quoted that have a colon, as some hosts do."""
    if not front.findings or front.dialect != "yaml":
        return ""
    text = decode_text(data)
    first = text[: len(text) - len(text.lstrip())].count("\n") + 2
    lines = text.lstrip().splitlines()[1 : front.body_line - first]
    quoted = [COLON_VALUE.sub(lambda match: f"{match[1]}: |\n  {match[2]}", line) for line in lines]
    try:
        read_yaml("\n".join(quoted) + "\n", [])
    except YamlError as error:
        # A value in quotes takes two lines.
        numbers = [number for number, part in enumerate(quoted, first) for _ in part.split("\n")] or [first]
        return f"line {numbers[min(error.line, len(numbers)) - 1]}: {one_line(error.message)}"
    return ""


def _to_line(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""
