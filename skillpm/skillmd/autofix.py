"""Repairs that a program may make to an author's SKILL.md: each is named, and every other byte stays as it is.

Only what changes nothing of what is read is repaired: a value that needs quotes gets them, a field that the
specification does not know goes under `metadata`, as text, where it is read just the same. What only its author can
decide (which of two keys is meant, what the name should be) is left to them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from skillpm.core.names import is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.skillmd.findings import Finding, NotLoadable, warning
from skillpm.skillmd.frontmatter import Frontmatter, decode_text, read_frontmatter
from skillpm.skillmd.lenient_parser import (
    QUOTED_REPAIR,
    RecoveredSegment,
    Segment,
    quote_scalar,
    recover_segment,
    split_segments,
)
from skillpm.skillmd.mcp_servers import KEY_PREFIX
from skillpm.skillmd.skill import Skill, read_skill
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

BOM = b"\xef\xbb\xbf"
LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|$)")
MAX_PASSES = 50
# What is read under `metadata` too, so that it may go there.
MOVABLE_FIELDS = frozenset(["version", "category", "triggers", "trigger", "tags", "requires", "homepage", "author"])
# What no repair may change.
PRESERVED_FIELDS = (
    *("description", "body", "version", "license", "compatibility", "category", "triggers", "tags"),
    *("homepage", "author", "requires", "allowed_tools", "mcp_servers", "extra"),
)


class LineEdit(Value):
    """Lines from `start` up to `end` (counted from 0) become other ones; `fixed` says what that mends."""

    start: int
    end: int
    lines: tuple[str, ...]
    fixes: tuple[Finding, ...]


class FixResult(Value):
    """The bytes of a file after its repairs, and these, each with the line where it was needed."""

    data: bytes
    fixes: tuple[Finding, ...] = ()


def fix(data: bytes, folder: str) -> FixResult:
    """Repair what can be repaired in a SKILL.md that lies in a folder of this name.

    Doing it twice is doing it once. A file that cannot be loaded is given back as it is, and so is one whose repairs
    find no end.
    """
    fixed = FixResult(data=data)
    for _ in range(MAX_PASSES):  # what one repair laid open, the next turn mends
        more = _fix_once(fixed.data, folder)
        if not more.fixes:
            return fixed
        fixed = FixResult(data=more.data, fixes=(*fixed.fixes, *more.fixes))
    return FixResult(data=data)


def _fix_once(data: bytes, folder: str) -> FixResult:
    try:
        before = read_skill(data)
        front = read_frontmatter(decode_text(data))
    except NotLoadable:
        return FixResult(data=data)
    lines = [match.groups() for match in LINE.finditer(data.removeprefix(BOM).decode())][:-1]
    opening = next(number for number, (line, _) in enumerate(lines) if line.strip())
    mark = [warning("bom", "the byte order mark is gone", 1)] if data.startswith(BOM) else []
    head = [_drop_leading_blank_lines(opening)] if opening else []
    inside, moved = _plan_edits(lines, opening, front, folder) if front.dialect == "yaml" else ([], [])
    places = {edit.start for edit in moved if edit.fixes}
    for edits in (
        [*head, *moved, *(edit for edit in inside if edit.start not in places or edit.start == edit.end)],
        [*head, *inside],
        head,
    ):
        after = _apply_edits(lines, edits)
        if _is_equivalent(before, after, folder):
            if after == data:
                break
            fixes = [*mark, *(item for edit in edits for item in edit.fixes)]
            return FixResult(data=after, fixes=tuple(sorted(fixes, key=lambda item: item.line)))
    return FixResult(data=data)


def _drop_leading_blank_lines(opening: int) -> LineEdit:
    fixed = warning("leading-blank", "the blank lines above the frontmatter are gone", 1)
    return LineEdit(start=0, end=opening, lines=(), fixes=(fixed,))


def _plan_edits(
    lines: Sequence[tuple[str, ...]], opening: int, front: Frontmatter, folder: str
) -> tuple[list[LineEdit], list[LineEdit]]:
    """Give the edits that mend what stands there, and those that move fields under `metadata`."""
    block = "".join(line + "\n" for line, _ in lines[opening + 1 : front.body_line - 2])
    pieces = split_segments(block, [])
    mended = list(map(recover_segment, pieces)) if _is_invalid_yaml(block) else []
    edits = [edit for one in mended for edit in _plan_quoting(one, opening)]
    if "name" not in front.values and is_skill_name(folder):
        fixed = warning("missing-name", f"the name is the folder's now: `{folder}`", opening + 1)
        edits.append(LineEdit(start=opening + 1, end=opening + 1, lines=(f"name: {folder}",), fixes=(fixed,)))
    return edits, list(_plan_moves(pieces, opening))


def _is_invalid_yaml(block: str) -> bool:
    try:
        read_yaml(block, [])
    except YamlError:
        return True
    return False


def _plan_quoting(recovered: RecoveredSegment, opening: int) -> Iterator[LineEdit]:
    """Give the edit that writes a piece as YAML allows it; none where that does not help, or would lose a comment."""
    piece = recovered.segment
    start = opening + piece.line
    length = 1 if recovered.repair == QUOTED_REPAIR else len(_content_lines(piece))
    better = piece.replace(lines=(*recovered.lines[:1], *piece.lines[length:]))
    if (
        recovered.repair
        and not recover_segment(better).repair
        and not any(line.lstrip().startswith("#") for line in piece.lines[1:length])
    ):
        fixed = warning("frontmatter-repaired", f"`{sanitize(piece.key, 40)}` stands in quotes now", start + 1)
        yield LineEdit(start=start, end=start + length, lines=recovered.lines[:1], fixes=(fixed,))


def _plan_moves(segments: list[Segment], opening: int) -> Iterator[LineEdit]:
    """Give the edits that put fields under `metadata`: a block of it that is there, or one where the first stood."""
    moving = [(piece, text) for piece in segments if (text := _movable_text(piece))]
    home = next((piece for piece in segments if piece.key == "metadata"), None)
    content = _content_lines(home) if home is not None else ()
    if not moving or (home is not None and not re.fullmatch(r"metadata\s*:\s*", home.lines[0])):
        return
    below = next((line for line in content[1:] if line.strip() and not line.lstrip().startswith("#")), "  x")
    indent = below[: len(below) - len(below.lstrip())]
    if not indent:  # a list, or what is no YAML at all
        return
    entries = tuple(f"{indent}{piece.key}: {text}" for piece, text in moving)
    if home is not None:
        at = opening + home.line + len(content)
        yield LineEdit(start=at, end=at, lines=entries, fixes=())
    for number, (piece, _) in enumerate(moving):
        start = opening + piece.line
        new = ("metadata:", *entries) if home is None and number == 0 else ()
        fixed = warning("unknown-field", f"`{piece.key}` stands under `metadata` now, as text", start + 1)
        yield LineEdit(start=start, end=start + len(_content_lines(piece)), lines=new, fixes=(fixed,))


def _movable_text(segment: Segment) -> str:
    """Give the value of a field as one text, or nothing where it must stay: comments and objects would be lost."""
    if (segment.key not in MOVABLE_FIELDS and not segment.key.startswith(KEY_PREFIX)) or any(
        "#" in line for line in _content_lines(segment)
    ):
        return ""
    value: Any = recover_segment(segment).value
    if isinstance(value, list) and all(isinstance(item, str) and not re.search("[,|]", item) for item in value):
        value = ", ".join(value)
    return quote_scalar(value) if isinstance(value, str) and value else ""


def _content_lines(segment: Segment) -> tuple[str, ...]:
    """Give the lines of a piece without the blank ones and the comments at its end: these belong to what follows."""
    length = len(segment.lines)
    while length > 1 and (not segment.lines[length - 1].strip() or segment.lines[length - 1].startswith("#")):
        length -= 1
    return segment.lines[:length]


def _apply_edits(lines: Sequence[tuple[str, ...]], edits: Sequence[LineEdit]) -> bytes:
    """Carry out edits; a new line ends as the line does in whose place it comes."""
    new = ["".join(line) for line in lines]
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        ending = lines[min(edit.start, len(lines) - 1)][1] or "\n"
        new[edit.start : edit.end] = [line + ending for line in edit.lines]
    return "".join(new).encode()


def _is_equivalent(before: Skill, data: bytes, folder: str) -> bool:
    try:
        after = read_skill(data)
    except NotLoadable:
        return False
    same_name = after.declared == before.declared or (not before.declared and after.declared == folder)
    kept = before.metadata.items() <= after.metadata.items()
    return same_name and kept and all(getattr(before, field) == getattr(after, field) for field in PRESERVED_FIELDS)
