"""A lenient parser for frontmatter that is not valid YAML: key by key, each as far as possible.

Some published skills have such frontmatter, mostly an unquoted `: ` in the description, and hosts load them. It is used
only after strict parsing failed, since it would turn valid values into text, and every repair is reported with its
line. The valid keys next to an invalid one keep their values.
"""

import re
from collections.abc import Iterator
from typing import Any

from skillpm.core.values import Value
from skillpm.skillmd.findings import Finding, warning
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

QUOTED_REPAIR = "this value was read as plain text, since YAML does not allow it without quotes"
TOP_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*)|)$")
BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?")
CONFLICT_MARKER = re.compile(r"(<{7}|={7}|>{7})(\s|$)")


class Segment(Value):
    """A top-level key and its lines; `line` is the number of the first one in the block, from 1."""

    key: str
    line: int
    lines: tuple[str, ...]


class RecoveredSegment(Value):
    """A segment with its recovered value."""

    segment: Segment
    value: Any
    # Valid YAML for the value, for `validate --fix`.
    lines: tuple[str, ...]
    # The warning about the repair; empty if the segment was valid.
    repair: str = ""
    findings: tuple[Finding, ...] = ()


def read_lenient_yaml(block: str, findings: list[Finding]) -> dict[str, Any]:
    """Return the top-level keys of invalid YAML, and report each that had to be repaired.

    A key's value is its segment parsed as YAML if that is valid; else with the rest of its first line quoted; else all
    of its lines as text. Nested lines never become keys: text in a description must not set `allowed-tools`.
    """
    values: dict[str, Any] = {}
    for recovered in map(recover_segment, split_segments(block, findings)):
        key, line = recovered.segment.key, recovered.segment.line
        values[key] = recovered.value
        findings.extend(finding.replace(line=finding.line + line - 1) for finding in recovered.findings)
        if recovered.repair:
            findings.append(warning("frontmatter-repaired", recovered.repair, line))
    return values


def split_segments(block: str, findings: list[Finding]) -> list[Segment]:
    """Split a block at its top-level keys. Of duplicate keys, the last one is used; these are reported."""
    segments: dict[str, tuple[int, list[str]]] = {}
    current: list[str] = []
    for number, line in enumerate(block.removesuffix("\n").split("\n"), 1):
        match = TOP_KEY.match(line)
        if match is not None:
            current = [line]
            if match[1] in segments:
                findings.append(warning("duplicate-key", f"duplicate key `{match[1]}`; the last one is used", number))
            segments[match[1]] = (number, current)
        elif CONFLICT_MARKER.match(line):
            message = "this line is left over from a merge, and ignored"
            findings.append(warning("frontmatter-repaired", message, number))
            # Belongs to no key: the following lines must not continue the value above the marker.
            current = []
        else:
            current.append(line)
    unsorted = [Segment(key=key, line=number, lines=tuple(lines)) for key, (number, lines) in segments.items()]
    # A duplicate key keeps its first position in the dict, but has the line of the last one.
    return sorted(unsorted, key=lambda segment: segment.line)


def recover_segment(segment: Segment) -> RecoveredSegment:
    """Parse one segment, by the first of three ways that succeeds."""
    try:
        value, findings = _read_single_key(segment.key, segment.lines)
        return RecoveredSegment(segment=segment, value=value, lines=segment.lines, findings=findings)
    except YamlError as error:
        reason = error.message
    for lines in _quote_first_line(segment):
        try:
            value, findings = _read_single_key(segment.key, lines)
            return RecoveredSegment(segment=segment, value=value, lines=lines, repair=QUOTED_REPAIR, findings=findings)
        except YamlError:
            continue
    text = _fold_text(segment.lines)
    repair = f"`{segment.key}` was read as plain text, since it is not valid YAML: {reason}"
    return RecoveredSegment(segment=segment, value=text, lines=(f"{segment.key}: {quote_scalar(text)}",), repair=repair)


def quote_scalar(text: str) -> str:
    """Return text as a YAML scalar of one line: in single quotes, or in double quotes if it needs escapes."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in escaped) + '"'


def _read_single_key(key: str, lines: tuple[str, ...]) -> tuple[Any, tuple[Finding, ...]]:
    """Return the value of a segment. Raises `YamlError`, also if it has other keys than this one."""
    findings: list[Finding] = []
    value = read_yaml("\n".join(lines) + "\n", findings)
    # A key that TOP_KEY does not match, such as `"quoted": x`, is part of the segment before it.
    if isinstance(value, dict) and list(value) == [key]:
        return value[key], tuple(findings)
    raise YamlError("expected exactly one key", 1)


def _quote_first_line(segment: Segment) -> Iterator[tuple[str, ...]]:
    """Yield the segment with the value in its first line quoted, unless it is quoted already, or a block scalar."""
    rest = _value_text(segment.lines[0])
    if rest and rest[0] not in "\"'#" and not BLOCK_SCALAR.fullmatch(rest):
        yield (f"{segment.key}: {quote_scalar(rest)}", *segment.lines[1:])


def _value_text(line: str) -> str:
    match = TOP_KEY.match(line)
    return (match[2] or "").strip() if match is not None else ""


def _fold_text(lines: tuple[str, ...]) -> str:
    """Return a value as text: the rest of its first line and all others, folded; a block scalar keeps its lines."""
    rest = _value_text(lines[0])
    below = [line.strip() for line in lines[1:]]
    if BLOCK_SCALAR.fullmatch(rest):
        return "\n".join(below).strip()
    text = " ".join(part for part in [rest, *below] if part and not part.startswith("#"))
    quote = text[:1]  # an opening quote without its closing one is why YAML failed
    return text[1:-1] if quote in {'"', "'"} and len(text) > 1 and text.endswith(quote) else text.lstrip("\"'")
