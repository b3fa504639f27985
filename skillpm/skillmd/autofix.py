"""Automatic fixes of a SKILL.md (`validate --fix`): each is reported, and every other byte stays unchanged.

A fix never changes the parsed skill: a value that needs quotes gets them; a field that the specification does not have
moves under `metadata`, as text, where it is read as well. Decisions (which of two duplicate keys to keep, what the name
should be) are left to the author.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from skillpm.core.names import is_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.skillmd.block_repair import quote_scalar
from skillpm.skillmd.findings import Finding, NotLoadable, warning
from skillpm.skillmd.frontmatter import Frontmatter, decode_text, read_frontmatter
from skillpm.skillmd.lenient_parser import RecoveredSegment, Segment, recover_segment, split_segments
from skillpm.skillmd.skill import KEY_PREFIX, Skill, read_skill
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

BOM = b"\xef\xbb\xbf"
LINE = lazy_pattern(r"([^\r\n]*)(\r\n|\r|\n|$)")
MAX_PASSES = 50
# Fields that are also read under `metadata`.
MOVABLE_FIELDS = frozenset(["version", "category", "triggers", "trigger", "tags", "requires", "homepage", "author"])
# What no fix may change.
PRESERVED_FIELDS = (
    *("description", "body", "version", "license", "compatibility", "category", "triggers", "tags"),
    *("homepage", "author", "requires", "allowed_tools", "mcp_servers", "extra"),
)
LINE_END = lazy_pattern(r"(?<=\n)|(?<=\r)(?!\n)")


class LineEdit(Value):
    """The replacement of lines `start` to `end` (exclusive, from 0), and what it fixes."""

    start: int
    end: int
    lines: tuple[str, ...]
    fixes: tuple[Finding, ...]


class FixResult(Value):
    """The bytes of a fixed file, and the fixes, each with its line in the original."""

    data: bytes
    fixes: tuple[Finding, ...] = ()


def fix(data: bytes, folder: str) -> FixResult:
    """Fix a SKILL.md in a folder of this name. The result is a fixed point: fixing it again changes nothing.

    A file that cannot be loaded is returned unchanged, and so is one for which the fixes do not converge.
    """
    result = FixResult(data=data)
    for _ in range(MAX_PASSES):  # one fix may make another possible
        more = _fix_once(result.data, folder)
        if not more.fixes:
            return result
        result = FixResult(data=more.data, fixes=(*result.fixes, *more.fixes))
    return FixResult(data=data)


def _fix_once(data: bytes, folder: str) -> FixResult:
    try:
        before = read_skill(data)
        front = read_frontmatter(decode_text(data))
    except NotLoadable:
        return FixResult(data=data)
    lines = [match.groups() for match in LINE.finditer(data.removeprefix(BOM).decode())][:-1]
    opening = next(number for number, (line, _) in enumerate(lines) if line.strip())
    bom = [warning("bom", "removed the byte order mark", 1)] if data.startswith(BOM) else []
    fence = lines[opening][0]
    head = [_drop_leading_space(opening, fence)] if opening or fence[0].isspace() else []
    in_place, moves = _plan_edits(lines, opening, front, folder) if front.dialect == "yaml" else ([], [])
    moved_lines = {edit.start for edit in moves if edit.fixes}
    # The most extensive set of edits that leaves the parsed skill unchanged. A field that moves needs no edit in place.
    for edits in (
        [*head, *moves, *(edit for edit in in_place if edit.start not in moved_lines or edit.start == edit.end)],
        [*head, *in_place],
        head,
    ):
        after = _apply_edits(lines, edits)
        if is_equivalent(before, after, folder):
            if after == data:
                break
            fixes = [*bom, *(item for edit in edits for item in edit.fixes)]
            return FixResult(data=after, fixes=tuple(sorted(fixes, key=lambda item: item.line)))
    return FixResult(data=data)


def _drop_leading_space(opening: int, fence: str) -> LineEdit:
    """Return the edit that removes blank lines before the frontmatter, and spaces before its fence."""
    what = "blank lines" if opening else "spaces"
    fixed = warning("leading-blank", f"removed the {what} before the frontmatter", 1)
    return LineEdit(start=0, end=opening + 1, lines=(fence.lstrip(),), fixes=(fixed,))


def _plan_edits(
    lines: Sequence[tuple[str, ...]], opening: int, front: Frontmatter, folder: str
) -> tuple[list[LineEdit], list[LineEdit]]:
    """Return the edits that fix fields in place, and those that move fields under `metadata`."""
    block = "".join(line + "\n" for line, _ in lines[opening + 1 : front.body_line - 2])
    segments = split_segments(block, [])
    recovered = list(map(recover_segment, segments)) if _is_invalid_yaml(block) else []
    edits = [edit for segment in recovered for edit in _plan_quoting(segment, opening)]
    if "name" not in front.values and is_skill_name(folder):
        fixed = warning("missing-name", f"added the name of the folder: `{folder}`", opening + 1)
        edits.append(LineEdit(start=opening + 1, end=opening + 1, lines=(f"name: {folder}",), fixes=(fixed,)))
    return edits, list(_plan_moves(segments, opening))


def _is_invalid_yaml(block: str) -> bool:
    try:
        read_yaml(block, [])
    except YamlError:
        return True
    return False


def _plan_quoting(recovered: RecoveredSegment, opening: int) -> Iterator[LineEdit]:
    """Yield the edits that make a segment valid YAML; none if the author has to decide what is meant."""
    segment = recovered.segment
    for number, (before, after) in enumerate(zip(segment.lines, recovered.fixed, strict=False)):
        if before != after and not before.lstrip().startswith("#"):
            start = opening + segment.line + number
            what = "quoted" if before.strip() != after.strip() else "replaced the tabs in"
            fixed = warning("frontmatter-repaired", f"{what} `{sanitize(segment.key, 40)}`", start + 1)
            yield LineEdit(start=start, end=start + 1, lines=(after,), fixes=(fixed,))


def _plan_moves(segments: list[Segment], opening: int) -> Iterator[LineEdit]:
    """Yield the edits that move fields under `metadata`: to its existing block, or to a new one for the first field."""
    moving = [(segment, text) for segment in segments if (text := _movable_text(segment))]
    home = next((segment for segment in segments if segment.key == "metadata"), None)
    content = _content_lines(home) if home is not None else ()
    # `metadata: {a: b}` or `metadata: text`, to which no line can be added.
    if not moving or (home is not None and not re.fullmatch(r"metadata\s*:\s*", home.lines[0])):
        return
    below = next((line for line in content[1:] if line.strip() and not line.lstrip().startswith("#")), "  x")
    indent = below[: len(below) - len(below.lstrip())]
    if not indent:  # a list, or invalid YAML
        return
    entries = tuple(f"{indent}{piece.key}: {text}" for piece, text in moving)
    if home is not None:
        at = opening + home.line + len(content)
        yield LineEdit(start=at, end=at, lines=entries, fixes=())
    for number, (piece, _) in enumerate(moving):
        start = opening + piece.line
        new = ("metadata:", *entries) if home is None and number == 0 else ()
        fixed = warning("unknown-field", f"moved `{piece.key}` under `metadata`, as text", start + 1)
        yield LineEdit(start=start, end=start + len(_content_lines(piece)), lines=new, fixes=(fixed,))


def _movable_text(segment: Segment) -> str:
    """Return the value of a field as one YAML string; empty if it cannot move without losing a comment or structure."""
    if (segment.key not in MOVABLE_FIELDS and not segment.key.startswith(KEY_PREFIX)) or any(
        "#" in line for line in _content_lines(segment)
    ):
        return ""
    recovered = recover_segment(segment)
    value: Any = recovered.value
    if recovered.findings and not recovered.fixed:  # what is meant is not certain
        return ""
    if isinstance(value, list) and all(isinstance(item, str) and not re.search("[,|]", item) for item in value):
        value = ", ".join(value)
    return quote_scalar(value) if isinstance(value, str) and value else ""


def _content_lines(segment: Segment) -> tuple[str, ...]:
    """Return the lines of a segment without blank lines and comments at its end, which belong to the next one."""
    length = len(segment.lines)
    while length > 1 and (not segment.lines[length - 1].strip() or segment.lines[length - 1].startswith("#")):
        length -= 1
    return segment.lines[:length]


def _apply_edits(lines: Sequence[tuple[str, ...]], edits: Sequence[LineEdit]) -> bytes:
    """Apply edits; a new line has the line ending of the one it replaces."""
    new = ["".join(line) for line in lines]
    # From the end, so that the line numbers of the remaining edits stay valid.
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        ending = lines[min(edit.start, len(lines) - 1)][1] or "\n"
        new[edit.start : edit.end] = [line + ending for line in edit.lines]
    return "".join(new).encode()


def is_equivalent(before: Skill, data: bytes, folder: str, *, version: str = "") -> bool:
    """Return whether a changed SKILL.md is parsed as the same skill, in a folder of this name; or with this version."""
    try:
        after = read_skill(data)
    except NotLoadable:
        return False
    has_same_name = after.declared == before.declared or (not before.declared and after.declared == folder)
    if version:
        metadata = {key: value for key, value in before.metadata.items() if key != "version"}
        before = before.replace(version=version, metadata=metadata)
    has_metadata = before.metadata.items() <= after.metadata.items()
    has_same_fields = all(getattr(before, field) == getattr(after, field) for field in PRESERVED_FIELDS)
    return has_same_name and has_metadata and has_same_fields


def convert_to_yaml(data: bytes, folder: str) -> FixResult:
    """Return a SKILL.md in a folder of this name with YAML frontmatter, and the fix; unchanged if it is not TOML.

    Hosts that read only YAML do not see a skill with TOML frontmatter. Body and comments stay as they are, byte for
    byte, and so does what is parsed: a file for which it would not is left unchanged.
    """
    try:
        before, front = read_skill(data), read_frontmatter(decode_text(data))
    except NotLoadable:
        return FixResult(data=data)
    if front.dialect != "toml":
        return FixResult(data=data)
    import yaml  # noqa: PLC0415  (a conversion only)

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
