"""What people meant who wrote YAML that is none: read key by key, each as far as it can be.

Only asked after a strict reading failed, and every repair is reported with its line: repairing always would turn
honest values into text. What is honest beside a broken neighbour stays what it is.
"""

import re
from collections.abc import Iterator
from typing import Any

from skillpm.core.values import Value
from skillpm.skillmd.findings import Finding, warning
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

QUOTED_REPAIR = "this value was read as plain text, since YAML does not allow it unquoted"
TOP_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*)|)$")
BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?")
CONFLICT_MARKER = re.compile(r"(<{7}|={7}|>{7})(\s|$)")


class Segment(Value):
    """A top-level key and its lines, of which the first is `line` (counted from 1) of the block."""

    key: str
    line: int
    lines: tuple[str, ...]


class RecoveredSegment(Value):
    """A piece as it can be read: its value, and what had to be done to it, or nothing.

    `lines` are how its author could write it so that YAML allows it.
    """

    segment: Segment
    value: Any
    lines: tuple[str, ...]
    repair: str = ""
    findings: tuple[Finding, ...] = ()


def read_lenient_yaml(block: str, findings: list[Finding]) -> dict[str, Any]:
    """Give the top-level keys of a block that is no YAML, and report each that had to be repaired.

    A key's value is its own piece of YAML when that can be read; else the rest of its line as if it had been quoted;
    else that and the lines below it, as text. Keys never come from nested lines.
    """
    values: dict[str, Any] = {}
    for mended in map(recover_segment, split_segments(block, findings)):
        key, line = mended.segment.key, mended.segment.line
        values[key] = mended.value
        findings.extend(finding.replace(line=finding.line + line - 1) for finding in mended.findings)
        if mended.repair:
            findings.append(warning("frontmatter-repaired", mended.repair, line))
    return values


def split_segments(block: str, findings: list[Finding]) -> list[Segment]:
    """Split a block at its top-level keys. Of two of one name the later counts; both this and what no key can have
    is reported.
    """
    pieces: dict[str, tuple[int, list[str]]] = {}
    current: list[str] = []
    for number, line in enumerate(block.removesuffix("\n").split("\n"), 1):
        match = TOP_KEY.match(line)
        if match is not None:
            current = [line]
            if match[1] in pieces:
                findings.append(
                    warning("duplicate-key", f"the key `{match[1]}` stands twice; the last one counts", number)
                )
            pieces[match[1]] = (number, current)
        elif CONFLICT_MARKER.match(line):
            message = "this line is left over from a merge, and is no part of the frontmatter"
            findings.append(warning("frontmatter-repaired", message, number))
            current = []
        else:
            current.append(line)
    found = [Segment(key=key, line=number, lines=tuple(lines)) for key, (number, lines) in pieces.items()]
    return sorted(found, key=lambda piece: piece.line)


def recover_segment(segment: Segment) -> RecoveredSegment:
    """Read one piece, by the first of three ways that works."""
    try:
        value, found = _read_single_key(segment.key, segment.lines)
        return RecoveredSegment(segment=segment, value=value, lines=segment.lines, findings=found)
    except YamlError as fault:
        why = fault.message
    for lines in _quote_first_line(segment):
        try:
            value, found = _read_single_key(segment.key, lines)
            return RecoveredSegment(segment=segment, value=value, lines=lines, repair=QUOTED_REPAIR, findings=found)
        except YamlError:
            continue
    text = _fold_text(segment.lines)
    repair = f"`{segment.key}` was read as plain text, since it is no YAML: {why}"
    return RecoveredSegment(segment=segment, value=text, lines=(f"{segment.key}: {quote_scalar(text)}",), repair=repair)


def quote_scalar(text: str) -> str:
    """Write text as a YAML scalar of one line: in single quotes, or in double ones where something must be escaped."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in escaped) + '"'


def _read_single_key(key: str, lines: tuple[str, ...]) -> tuple[Any, tuple[Finding, ...]]:
    """Give the value of a piece that is one key, as it should be."""
    found: list[Finding] = []
    value = read_yaml("\n".join(lines) + "\n", found)
    if isinstance(value, dict) and list(value) == [key]:
        return value[key], tuple(found)
    raise YamlError("it is more or less than one key", 1)


def _quote_first_line(segment: Segment) -> Iterator[tuple[str, ...]]:
    """Give the piece with the rest of its first line quoted, where that could be meant."""
    rest = _value_text(segment.lines[0])
    if rest and rest[0] not in "\"'#" and not BLOCK_SCALAR.fullmatch(rest):
        yield (f"{segment.key}: {quote_scalar(rest)}", *segment.lines[1:])


def _value_text(line: str) -> str:
    match = TOP_KEY.match(line)
    return (match[2] or "").strip() if match is not None else ""


def _fold_text(lines: tuple[str, ...]) -> str:
    """Give the text of a value: the rest of its line and what follows, folded; a block scalar keeps its lines."""
    rest = _value_text(lines[0])
    below = [line.strip() for line in lines[1:]]
    if BLOCK_SCALAR.fullmatch(rest):
        return "\n".join(below).strip()
    text = " ".join(part for part in [rest, *below] if part and not part.startswith("#"))
    quote = text[:1]
    return text[1:-1] if quote in {'"', "'"} and len(text) > 1 and text.endswith(quote) else text.lstrip("\"'")
