"""Fenced code blocks in Markdown: which lines are code. Pure."""

from collections.abc import Iterator
from typing import Literal

from skillpm.core.patterns import lazy_pattern

FENCE = lazy_pattern(r" {0,3}(`{3,}|~{3,})")
LineKind = Literal["text", "fence", "code", "unclosed"]


def classify_lines(body: str) -> Iterator[tuple[str, LineKind]]:
    """Yield each line with its kind: text, the opening fence of a code block, or code (the closing fence included).

    By CommonMark a fence that is never closed makes code of everything below it. Its author did not mean that, so it
    is `unclosed`, and what follows is text.
    """
    lines = body.split("\n")
    end = 0
    shortest_unclosed = {"`": len(body), "~": len(body)}  # so that many unclosed fences take linear time
    for number, line in enumerate(lines):
        marker = FENCE.match(line)
        if number < end:
            yield line, "code"
        elif marker is None:
            yield line, "text"
        else:
            fence = marker[1]
            is_open = len(fence) >= shortest_unclosed[fence[0]]
            end = 0 if is_open else _find_end(lines, number + 1, fence)
            if not end:
                shortest_unclosed[fence[0]] = min(len(fence), shortest_unclosed[fence[0]])
            yield line, "fence" if end else "unclosed"


def _find_end(lines: list[str], start: int, fence: str) -> int:
    """Return the index after the closing fence; 0 if there is none."""
    for number in range(start, len(lines)):
        marker = FENCE.match(lines[number])
        if marker is not None and marker[1].startswith(fence) and not lines[number][marker.end() :].strip():
            return number + 1
    return 0
