"""Repair of a nested block that is not valid YAML: its invalid scalars are quoted, in the lines they are in.

The result has as many lines as the block, and its value is what YAML reads from it, so the entries next to an invalid
one keep their values. A block whose lines can be meant in two ways is not repaired: an open quote or bracket may extend
over the lines below it, and uneven indentation does not say to what a line belongs.
"""

import re
from collections.abc import Sequence

from skillpm.core.patterns import lazy_pattern
from skillpm.skillmd.yaml_loader import MAX_DEPTH, YamlError, read_yaml

# A dash or a key, and the rest of its line.
ENTRY = lazy_pattern(r"""(-|(?:[\w@./+-]+|"[^"]*"|'[^']*')[ \t]*:)(?:[ \t]+(.*)|)$""")
QUOTED = lazy_pattern(r"""'([^']*)'|"([^"]*)\"""")
PLAIN_FLOW_LIST = lazy_pattern(r"""\[([^\[\]{}"'#]*)\]""")
# `[a] b` is text, but a bracket that is open, or closed at the end, is a damaged list or object; so is `- a`.
COLLECTION = lazy_pattern(r"\[[^\]]*|\[.*\]|\{[^}]*|\{.*\}|-\s.*", re.DOTALL)
UNCLOSED_QUOTE = "found unexpected end of stream"  # as PyYAML reports it
# Text that could also be quoted, a damaged list or object, an anchor, a tag, an alias, or followed by a comment.
TWO_READINGS = lazy_pattern(r"""["'&!]|[-?]\s|[\[{](?![^\[\]{}]*[\]}]\s)|\*[\w-]+$|.*\s#""")


class UnreadableBlock(Exception):
    """What the lines of a block mean is not certain."""


def quote_scalar(text: str) -> str:
    """Return text as a YAML scalar of one line: in single quotes, or in double quotes if it needs escapes."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in escaped) + '"'


def quote_flow_list(text: str, doubts: list[str]) -> str | None:
    """Return `[@a, b]` with its invalid items quoted; None if text is anything else than a list of plain scalars."""
    match = PLAIN_FLOW_LIST.fullmatch(text)
    if match is None:
        return None
    items = [item.strip() for item in match[1].split(",")]
    invalid = {item for item in set(items) if _yaml_problem([f"[{item}]"])}
    doubts.extend(item for item in invalid if TWO_READINGS.match(item))
    return "[" + ", ".join(quote_scalar(item) if item in invalid else item for item in items) + "]"


def repair_entry(lines: Sequence[str], doubts: list[str], depth: int = 1) -> list[str]:
    """Return the lines of one entry, of which the first has no indentation, as valid YAML.

    `doubts` receives the text that has a second reading, which `validate --fix` must not decide. Raises
    `UnreadableBlock`.
    """
    problem = _yaml_problem(lines)
    match = ENTRY.match(lines[0])
    if not problem:
        return list(lines)
    if match is None:
        raise UnreadableBlock
    head, rest = lines[0][: match.start(2)] if match[2] else lines[0], (match[2] or "").strip()
    if not rest or rest.startswith("#"):
        return [lines[0], *_repair_block(lines[1:], doubts, depth + 1)]
    if match[1] == "-" and ENTRY.match(rest):  # the first line of a block may stand behind the dash
        first, *below = _repair_block([" " * len(head) + rest, *lines[1:]], doubts, depth + 1)
        return [head + first[len(head) :], *below]
    return [head + _quote_value(rest, problem, doubts), *lines[1:]]


def _repair_block(lines: Sequence[str], doubts: list[str], depth: int) -> list[str]:
    """Return the lines of a block of entries as valid YAML. Tabs in its indentation become two spaces each."""
    first = next(filter(_has_content, lines), None)
    if first is None or depth > MAX_DEPTH:
        raise UnreadableBlock
    indent = first[: len(first) - len(first.lstrip())]
    is_list = first.lstrip().startswith("-")
    entries: list[list[str]] = [[]]
    for line in lines:
        own = line.removeprefix(indent)
        if not _has_content(line):
            entries[-1].append(own)
        elif not line.startswith(indent) or (not own[0].isspace() and own.startswith("- ") < is_list):
            raise UnreadableBlock
        elif own[0].isspace() or (own.startswith("- ") and not is_list):
            entries[-1].append(own)
        else:
            entries.append([own])
    spaces = indent.replace("\t", "  ")
    repaired = [line for entry in entries[1:] for line in repair_entry(entry, doubts, depth)]
    return [spaces + line if line else line for line in (*entries[0], *repaired)]


def _quote_value(rest: str, problem: str, doubts: list[str]) -> str:
    """Return the scalar of a line, quoted; a list with its invalid items quoted."""
    flow_list = quote_flow_list(rest, doubts)
    if flow_list is not None:
        return flow_list
    if problem == UNCLOSED_QUOTE or COLLECTION.fullmatch(rest):
        raise UnreadableBlock
    if TWO_READINGS.match(rest):
        doubts.append(rest)
    quoted = QUOTED.fullmatch(rest)  # with an invalid escape inside
    return quote_scalar(quoted[1] or quoted[2] if quoted is not None else rest)


def _has_content(line: str) -> bool:
    return not line.isspace() and not line.lstrip().startswith("#") and line != ""


def _yaml_problem(lines: Sequence[str]) -> str:
    """Return why lines are not valid YAML; empty if they are."""
    try:
        read_yaml("\n".join(lines) + "\n", [])
    except YamlError as error:
        return error.message
    return ""
