"""What discovery reads of a skill: its frontmatter, and no byte more than that takes. Pure.

The body is looked at when somebody loads the skill.
"""

import re
from typing import NamedTuple

from skillpm.core.text import one_line
from skillpm.skillmd.frontmatter import decode_text, read_frontmatter

HEAD_SIZE = 16_384  # nearly every frontmatter ends long before; where it does not, the whole file is read
OPENING = re.compile(rb"(?:\xef\xbb\xbf)?\s*^(---|\+\+\+)[^\r\n]*[\r\n]", re.MULTILINE)
CLOSING = {
    fence: re.compile(rb"[\r\n]" + re.escape(fence) + rb"[ \t]*(?=[\r\n])") for fence in (b"---", b"+++")
}  # fmt: skip


class SkillHead(NamedTuple):
    """What a skill says of itself at first sight; empty where it says nothing."""

    name: str
    description: str
    compatibility: str


def extract_frontmatter(data: bytes) -> bytes | None:
    """Give the bytes of a file up to the end of its frontmatter; None where these bytes do not hold the end."""
    opening = OPENING.match(data)
    if opening is None:
        return None
    closing = CLOSING[opening[1]].search(data, opening.end() - 1)
    return None if closing is None else data[: closing.end()]


def read_head(data: bytes) -> SkillHead:
    """Read the frontmatter of a file. Raises `NotLoadable` with the finding that says why it cannot be read."""
    values = read_frontmatter(decode_text(data)).values
    return SkillHead(*(_to_line(values.get(key)) for key in ("name", "description", "compatibility")))


def _to_line(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""
