"""Git's conflict markers in a SKILL.md: it must be resolved before an agent takes both sides for instructions."""

from skillpm.core.patterns import lazy_pattern

FENCE = lazy_pattern(r"[ \t]*(```+|~~~+)")
RESOLVE_HINT = "keep one side, or combine both, and delete the lines with <<<<<<<, ======= and >>>>>>>"


def find_conflict(text: str) -> tuple[int, int] | None:
    """Return the first and the last line, counted from 1, of the first unresolved conflict.

    All three markers must appear in order, and outside fenced code blocks: a skill may teach merging.
    """
    if "<<<<<<<" not in text or ">>>>>>>" not in text:
        return None
    fence, start, has_separator = "", 0, False
    for number, line in enumerate(text.split("\n"), 1):
        fenced = FENCE.match(line)
        if fenced is not None:
            fence = "" if fence and fenced[1].startswith(fence) else fence or fenced[1]
        elif fence:
            continue
        elif _is_marker(line, "<"):
            start, has_separator = number, False
        elif start and _is_marker(line, "="):
            has_separator = True
        elif has_separator and _is_marker(line, ">"):
            return start, number
    return None


def conflict_warning(data: bytes) -> str:
    """Return a warning about the first unresolved conflict in the bytes of a SKILL.md; empty if there is none."""
    if b"<<<<<<<" not in data:
        return ""
    lines = find_conflict(data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n"))
    return "" if lines is None else f"unresolved merge conflict, lines {lines[0]} to {lines[1]}"


def _is_marker(line: str, character: str) -> bool:
    marker = character * 7
    return line == marker or line.startswith(f"{marker} ")
