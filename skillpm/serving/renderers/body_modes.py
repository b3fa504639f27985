"""Reduce a skill's body: `full`, `compact` (no code, no examples), `toon` (headings with one line each). Pure.

A `#` line in a code block is code, not a heading. The program that these modes come from takes it for one, which cuts
the text of 43 % of real skills short.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, cast, get_args

from skillpm.core.code_fences import classify_lines
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import UsageError

Mode = Literal["full", "compact", "toon"]
MODES: tuple[str, ...] = get_args(Mode)
MAX_LENGTH = 50_000
TRUNCATED_NOTE = "\n\n[... truncated ...]"
REMOVED_NOTE = "[code example removed]"
HEADING = lazy_pattern(r" {0,3}(#{1,6})(?:\s|$)")
EXAMPLE = lazy_pattern(r"## Example", re.IGNORECASE)
JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def check_mode(mode: str) -> Mode:
    """Return a mode. Raises `UsageError` with the names of all modes."""
    if mode not in MODES:
        raise UsageError(f"unknown mode `{sanitize(str(mode), 40)}`", hint=f"known modes: {', '.join(MODES)}")
    return cast("Mode", mode)


def apply_mode(body: str, mode: Mode) -> str:
    """Return a body reduced to a mode."""
    match mode:
        case "full":
            return body
        case "compact":
            return _compact(body)
        case "toon":
            return "\n".join(_outline(body))


def truncate(text: str, max_length: int = MAX_LENGTH) -> tuple[str, bool]:
    """Cut a text that is too long, never within a character, and append a note. Return whether it was cut."""
    if len(text) <= max_length:
        return text, False
    end = max_length
    while end and _is_same_character(text[end - 1], text[end]):
        end -= 1
    return text[: end or max_length] + TRUNCATED_NOTE, True


def _is_same_character(before: str, after: str) -> bool:
    """Return whether two code points belong to what a reader sees as one character."""
    return after in JOINERS or before == "\u200d" or unicodedata.combining(after) != 0


def _compact(body: str) -> str:
    """Drop code and example sections, each from its heading to the next heading of level 1 or 2."""
    kept: list[str] = []
    in_example = False
    for line, kind in classify_lines(body):
        heading = HEADING.match(line) if kind == "text" else None
        if heading is not None and len(heading[1]) <= 2:  # noqa: PLR2004  (the level of an example's heading, or above)
            in_example = EXAMPLE.match(line) is not None
        if not in_example and kind != "code":
            kept.append(REMOVED_NOTE if kind == "fence" else line)
    return "\n".join(kept)


def _outline(body: str) -> Iterator[str]:
    """Yield each heading and the first line of text after it."""
    needs_text = False
    for line, kind in classify_lines(body):
        if kind == "text" and HEADING.match(line):
            yield line
            needs_text = True
        elif needs_text and kind == "text" and line.strip():
            yield line
            needs_text = False
