"""A lenient parser for frontmatter that is not valid YAML: key by key, each as far as possible.

Some published skills have such frontmatter, mostly an unquoted `: ` in the description, and hosts load them. It is used
only after strict parsing failed, since it would turn valid values into text, and every repair is reported with its
line. The valid keys next to an invalid one keep their values, nested ones too (`block_repair.py`). A nested value that
cannot be read is left out: values are never made up from its lines.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from skillpm.core.patterns import lazy_pattern
from skillpm.core.values import Value
from skillpm.skillmd.block_repair import (
    ENTRY,
    TWO_READINGS,
    UnreadableBlock,
    quote_flow_list,
    quote_scalar,
    repair_entry,
)
from skillpm.skillmd.findings import Finding, warning
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

QUOTED_REPAIR = "this value was read as plain text, since YAML does not allow it without quotes"
TABS_REPAIR = "the indentation has tabs, which YAML does not allow; they were read as spaces"
STRAY_REPAIR = "this line and those below it belong to no key, and are ignored"
MAX_KEYS = 2_000
TOP_KEY = lazy_pattern(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*)|)$")
BLOCK_SCALAR = lazy_pattern(r"[|>][-+0-9]*\s*(?:#.*)?")
CONFLICT_MARKER = lazy_pattern(r"(<{7}|={7}|>{7})(\s|$)")
# Fields that are text by the specification, so that the lines below them are more of it.
TEXT_FIELDS = frozenset(["name", "description", "license", "compatibility"])


class Segment(Value):
    """A top-level key and its lines; `line` is the number of the first one in the block, from 1."""

    key: str
    line: int
    lines: tuple[str, ...]


class RecoveredSegment(Value):
    """A segment with its recovered value; None if it is unreadable."""

    segment: Segment
    value: Any
    # Valid YAML with this value, line for line, for `validate --fix`; empty if there is nothing to fix, or if the
    # author has to decide what is meant.
    fixed: tuple[str, ...] = ()
    # With lines relative to the segment, from 1.
    findings: tuple[Finding, ...] = ()


def read_lenient_yaml(block: str, findings: list[Finding]) -> dict[str, Any]:
    """Return the top-level keys of invalid YAML, and report each that had to be repaired.

    A key's value is its segment parsed as YAML if that is valid; else with its invalid scalars quoted; else all of its
    lines as text, if they can only be text. Nested lines never become keys: text in a description must not set
    `allowed-tools`. Nothing is returned for more keys than authors write: each costs up to three parsers.
    """
    values: dict[str, Any] = {}
    segments = split_segments(block, findings)
    for recovered in map(recover_segment, segments if len(segments) <= MAX_KEYS else ()):
        segment = recovered.segment
        values[segment.key] = recovered.value
        findings.extend(finding.replace(line=finding.line + segment.line - 1) for finding in recovered.findings)
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
    """Parse one segment, by the first way that succeeds."""
    try:
        value, findings = _read_single_key(segment.key, segment.lines)
        return RecoveredSegment(segment=segment, value=value, findings=findings)
    except YamlError as error:
        reason = error
    for lines, is_certain in _repair_lines(segment):
        try:
            value, findings = _read_single_key(segment.key, lines)
        except YamlError:
            continue
        fixed = tuple(lines) if is_certain else ()
        findings = (*_describe_repairs(segment, lines), *findings)
        return RecoveredSegment(segment=segment, value=value, fixed=fixed, findings=findings)
    if _is_only_text(segment):
        message = f"`{segment.key}` was read as plain text, since it is not valid YAML: {reason.message}"
        finding = warning("frontmatter-repaired", message)
        return RecoveredSegment(segment=segment, value=_fold_text(segment.lines), findings=(finding,))
    message = f"`{segment.key}` is ignored, since it is not valid YAML: {reason.message}"
    line = min(reason.line, len(segment.lines))
    return RecoveredSegment(segment=segment, value=None, findings=(warning("unreadable-value", message, line),))


def _read_single_key(key: str, lines: Sequence[str]) -> tuple[Any, tuple[Finding, ...]]:
    """Return the value of a segment. Raises `YamlError`, also if it has other keys than this one."""
    findings: list[Finding] = []
    value = read_yaml("\n".join(lines) + "\n", findings)
    # A key that TOP_KEY does not match, such as `"quoted": x`, is part of the segment before it.
    if isinstance(value, dict) and list(value) == [key]:
        return value[key], tuple(findings)
    raise YamlError("expected exactly one key", 1)


def _repair_lines(segment: Segment) -> Iterator[tuple[Sequence[str], bool]]:
    """Yield lines that may be valid YAML for a segment, each with whether the author can have meant nothing else."""
    rest = _value_text(segment.lines[0])
    is_text = segment.key in TEXT_FIELDS
    own = segment.lines if is_text else segment.lines[: _count_own_lines(segment)]
    is_whole = len(own) == len(segment.lines)
    if not is_whole:
        yield own, False
    doubts: list[str] = []
    flow_list = None if is_text else quote_flow_list(rest, doubts)
    if flow_list is not None:
        yield (f"{segment.key}: {flow_list}", *own[1:]), is_whole and not doubts
    elif not rest and not is_text:
        with suppress(UnreadableBlock):
            lines = repair_entry(own, doubts)
            yield lines, is_whole and not doubts
    elif rest and rest[0] not in "\"'" and not BLOCK_SCALAR.fullmatch(rest) and (is_text or not _is_open(rest)):
        yield (f"{segment.key}: {quote_scalar(rest)}", *own[1:]), is_whole and not TWO_READINGS.match(rest)


def _count_own_lines(segment: Segment) -> int:
    """Return the number of lines up to unindented text, which cannot belong to a value other than text."""
    for number, line in enumerate(segment.lines[1:], 1):
        if line and not line[0].isspace() and line[0] not in "#{}[]" and not (line + " ").startswith("- "):
            return number
    return len(segment.lines)


def _describe_repairs(segment: Segment, lines: Sequence[str]) -> Iterator[Finding]:
    """Yield a warning for each line that was read as another one."""
    pairs = enumerate(zip(segment.lines, lines, strict=False), 1)
    changed = [(number, before.strip() == after.strip()) for number, (before, after) in pairs if before != after]
    for number, is_same_text in changed:
        if not is_same_text:
            yield warning("frontmatter-repaired", QUOTED_REPAIR, number)
    if tabs := [number for number, is_same_text in changed if is_same_text and "\t" in segment.lines[number - 1]]:
        yield warning("frontmatter-repaired", TABS_REPAIR, tabs[0])
    if len(lines) < len(segment.lines):
        yield warning("frontmatter-repaired", STRAY_REPAIR, len(lines) + 1)


def _value_text(line: str) -> str:
    """Return the value in the first line of a segment; empty if there is only a comment."""
    match = TOP_KEY.match(line)
    rest = (match[2] or "").strip() if match is not None else ""
    return "" if rest.startswith("#") else rest


def _is_open(text: str) -> bool:
    """Return whether text begins like a list or an object, but does not end like one."""
    return text.startswith("- ") or (text[0] == "[" and "]" not in text) or (text[0] == "{" and "}" not in text)


def _is_only_text(segment: Segment) -> bool:
    """Return whether a segment is text, or JSON in some lines, which is read from text."""
    rest = _value_text(segment.lines[0])
    if segment.key in TEXT_FIELDS or BLOCK_SCALAR.fullmatch(rest):
        return True
    text = _fold_text(segment.lines)
    if text[:1] in {"{", "["}:
        return text[-1] == {"{": "}", "[": "]"}[text[0]]
    return bool(rest) and not _is_open(rest) and not any(ENTRY.match(line.strip()) for line in segment.lines[1:])


def _fold_text(lines: tuple[str, ...]) -> str:
    """Return a value as text: the rest of its first line and all others, folded; a block scalar keeps its lines."""
    rest = _value_text(lines[0])
    below = [line.strip() for line in lines[1:]]
    if BLOCK_SCALAR.fullmatch(rest):
        return "\n".join(below).strip()
    text = " ".join(part for part in [rest, *below] if part and not part.startswith("#"))
    quote = text[:1]
    if quote not in {'"', "'"}:
        return text
    if len(text) > 1 and text.endswith(quote):
        return text[1:-1]
    return text if quote in text[1:] else text[1:]  # an opening quote without its closing one is why YAML failed
