"""Convert TOML frontmatter to YAML (`validate --fix --yaml`): hosts that read only YAML do not see such a skill.

The body stays as it is, byte for byte, and so does what is parsed: a file for which it would not is left unchanged.
Comments that have a line of their own are kept, above the fields.
"""

import re
from collections.abc import Iterator

import yaml

from skillpm.skillmd.autofix import FixResult, is_equivalent
from skillpm.skillmd.findings import NotLoadable, warning
from skillpm.skillmd.frontmatter import decode_text, read_frontmatter
from skillpm.skillmd.skill import read_skill

LINE_END = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")


def convert_to_yaml(data: bytes, folder: str) -> FixResult:
    """Return a SKILL.md in a folder of this name with YAML frontmatter, and the fix; unchanged if it is not TOML."""
    try:
        before, front = read_skill(data), read_frontmatter(decode_text(data))
    except NotLoadable:
        return FixResult(data=data)
    if front.dialect != "toml":
        return FixResult(data=data)
    lines = LINE_END.split(data.decode())
    closing = front.body_line - 2
    opening = next(number for number, line in enumerate(lines) if line.strip(" \t\r\n\ufeff"))
    ending = "\r\n" if lines[opening].endswith("\r\n") else "\n"
    fields = yaml.safe_dump(dict(front.values), sort_keys=False, allow_unicode=True, width=float("inf"))
    comments = _list_comments("".join(lines[opening + 1 : closing]))
    block = [line + ending for line in ("---", *comments, *fields.rstrip("\n").split("\n"))]
    after = "".join([*lines[:opening], *block, lines[closing].replace("+++", "---"), *lines[closing + 1 :]]).encode()
    if not is_equivalent(before, after, folder):
        return FixResult(data=data)
    return FixResult(data=after, fixes=(warning("not-yaml", "converted the TOML frontmatter to YAML", 1),))


def _list_comments(block: str) -> Iterator[str]:
    """Yield the lines that are comments. A block with text of several lines may have others that only look like it."""
    if '"""' not in block and "'''" not in block:
        yield from (line.strip() for line in block.splitlines() if line.lstrip().startswith("#"))
