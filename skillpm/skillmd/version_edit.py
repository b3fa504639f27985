"""Set the version in a SKILL.md: only its value changes, and every other byte stays.

The line is found by its shape, and accepted only if the file then parses as the same skill with the new version. So a
`version` inside another field or a block of text is never touched.
"""

import re
from collections.abc import Iterator

from skillpm.core.patterns import lazy_pattern
from skillpm.core.versions import is_version, parse_version
from skillpm.skillmd.autofix import BOM, LINE, is_equivalent
from skillpm.skillmd.frontmatter import decode_text, read_frontmatter
from skillpm.skillmd.skill import read_skill

PARTS = ("major", "minor", "patch")
# Alone on its line or in a flow mapping, `metadata: {version: 1.0}`; in YAML or TOML.
ENTRY = lazy_pattern(
    r"""((?:^\s*|[{,]\s*)(["']?)version\2\s*[:=]\s*)("[^"\r\n]*"|'[^'\r\n]*'|[^\s#"',}]+)(?=\s|[,}]|$)"""
)
NUMBER = lazy_pattern(r"[0-9]+(\.[0-9]*)?")


def next_version(version: str, part: str) -> str:
    """Return the version after this one; empty if it is not valid. A pre-release becomes its release, if that fits."""
    parsed = parse_version(version)
    if parsed is None or not is_version(version):
        return ""
    at = PARTS.index(part)
    numbers = [*parsed.release, *[0] * (at + 1 - len(parsed.release))]
    if not parsed.is_prerelease or any(numbers[at + 1 :]):
        numbers[at] += 1
        numbers[at + 1 :] = [0] * len(numbers[at + 1 :])
    return "v" * version.startswith("v") + ".".join(map(str, numbers))


def set_version(data: bytes, version: str) -> bytes | None:
    """Return a SKILL.md with another version; None if no edit of it does just that. Raises `NotLoadable`."""
    before = read_skill(data)
    front = read_frontmatter(decode_text(data))
    bom = BOM if data.startswith(BOM) else b""
    lines = ["".join(match.groups()) for match in LINE.finditer(data.removeprefix(BOM).decode())]
    is_toml = front.dialect == "toml"
    for head in _edit_head(lines[: front.body_line - 1], version, is_toml=is_toml, has_version=bool(before.version)):
        after = bom + "".join([*head, *lines[front.body_line - 1 :]]).encode()
        if is_equivalent(before, after, before.declared, version=version):
            return after
    return None


def _edit_head(head: list[str], version: str, *, is_toml: bool, has_version: bool) -> Iterator[list[str]]:
    """Yield edits of the lines up to the closing fence, of which the first one that is right applies."""
    if not has_version:
        if not is_toml:
            yield from _insert_version(head, version)
        return
    for number, line in enumerate(head):
        for match in ENTRY.finditer(line):
            quote = match[3][0] if match[3][0] in "\"'" else ""
            # Without quotes, TOML takes no version, and other readers of YAML take `1.10` for the number 1.1.
            quote = quote or ('"' if is_toml or NUMBER.fullmatch(version) else "")
            new = f"{line[: match.start(3)]}{quote}{version}{quote}{line[match.end(3) :]}"
            yield [*head[:number], new, *head[number + 1 :]]


def _insert_version(head: list[str], version: str) -> Iterator[list[str]]:
    """Yield edits that add a version: to the metadata, or with metadata of its own before the closing fence."""
    ending = re.sub(r"[^\r\n]", "", head[0]) or "\n"
    for number, line in enumerate(head[:-1]):
        if re.fullmatch(r"metadata\s*:\s*", line):
            indent = head[number + 1][: len(head[number + 1]) - len(head[number + 1].lstrip(" "))] or "  "
            yield [*head[: number + 1], f'{indent}version: "{version}"{ending}', *head[number + 1 :]]
            return
    yield [*head[:-1], f"metadata:{ending}", f'  version: "{version}"{ending}', head[-1]]
