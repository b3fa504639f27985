"""The fields that discovery needs of a SKILL.md, read without its body.

The body is only read when the skill is loaded.
"""

import re
from typing import NamedTuple

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import one_line
from skillpm.skillmd.frontmatter import decode_text, read_frontmatter

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
    return SkillHead(name, description, compatibility, problem, front.dialect)


def _to_line(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""
