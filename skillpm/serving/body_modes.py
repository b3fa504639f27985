"""How much of a body is shown: `full`, `compact` (no code, no examples), `toon` (headings and one line each). Pure.

The seed that had the idea took `#` lines inside of code for headings; 43 % of real files have one. Here a line in a
code fence is code, whatever it begins with.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, get_args

Mode = Literal["full", "compact", "toon"]
MODES: tuple[str, ...] = get_args(Mode)
MAX_LENGTH = 50_000
TRUNCATED_NOTE = "\n\n[... truncated ...]"
REMOVED_NOTE = "[code example removed]"
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
EXAMPLE = re.compile(r"## Example", re.IGNORECASE)
JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def apply_mode(body: str, mode: Mode) -> str:
    """Give a body in a mode."""
    match mode:
        case "full":
            return body
        case "compact":
            return _compact(body)
        case "toon":
            return "\n".join(_outline(body))


def truncate(text: str, max_length: int = MAX_LENGTH) -> tuple[str, bool]:
    """Cut a text that is too long, never inside of a character, and say so in it; tell whether that was done."""
    if len(text) <= max_length:
        return text, False
    end = max_length
    while end and _is_same_character(text[end - 1], text[end]):
        end -= 1
    return text[: end or max_length] + TRUNCATED_NOTE, True


def _is_same_character(before: str, after: str) -> bool:
    """Tell whether two code points are parts of what a reader sees as one character."""
    return after in JOINERS or before == "\u200d" or unicodedata.combining(after) != 0


def _classify_lines(body: str) -> Iterator[tuple[str, Literal["text", "fence", "code"]]]:
    """Give the lines of a body, each with what it is: text, the line that begins a code block, or the rest of one."""
    fence = ""
    for line in body.split("\n"):
        mark = FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
            yield line, "code"
        else:
            fence = mark[1] if mark is not None else ""
            yield line, "text" if mark is None else "fence"


def _compact(body: str) -> str:
    """Leave out code and the sections of examples: each from its heading to the next `##` heading, or to the end."""
    kept: list[str] = []
    in_example = False
    for line, kind in _classify_lines(body):
        heading = HEADING.match(line) if kind == "text" else None
        if heading is not None and len(heading[1]) <= 2:  # noqa: PLR2004  (as deep as an example's heading, or above)
            in_example = EXAMPLE.match(line) is not None
        if not in_example and kind != "code":
            kept.append(REMOVED_NOTE if kind == "fence" else line)
    return "\n".join(kept)


def _outline(body: str) -> Iterator[str]:
    """Give the headings, and the first line with text behind each."""
    wanted = False
    for line, kind in _classify_lines(body):
        if kind == "text" and HEADING.match(line):
            yield line
            wanted = True
        elif wanted and kind == "text" and line.strip():
            yield line
            wanted = False
