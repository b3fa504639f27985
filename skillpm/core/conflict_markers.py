"""Git's conflict marks in a SKILL.md: somebody has to choose a side before anybody reads it as instructions. Pure."""

import re

FENCE = re.compile(r"[ \t]*(```+|~~~+)")
RESOLVE_HINT = "take one side, or join both, and take the lines with <<<<<<<, ======= and >>>>>>> out"


def find_conflict(text: str) -> tuple[int, int] | None:
    """Give the first and the last line of the first conflict that nobody resolved, from 1.

    All three marks have to stand there in their order, none of them in a block of code: a skill may teach merging.
    """
    if "<<<<<<<" not in text or ">>>>>>>" not in text:
        return None
    fence, begun, parted = "", 0, False
    for number, line in enumerate(text.split("\n"), 1):
        fenced = FENCE.match(line)
        if fenced is not None:
            fence = "" if fence and fenced[1].startswith(fence) else fence or fenced[1]
        elif fence:
            continue
        elif _is_marker(line, "<"):
            begun, parted = number, False
        elif begun and _is_marker(line, "="):
            parted = True
        elif parted and _is_marker(line, ">"):
            return begun, number
    return None


def conflict_warning(data: bytes) -> str:
    """Say of the bytes of a SKILL.md that can be read where a conflict stands in it; empty where none does."""
    if b"<<<<<<<" not in data:
        return ""
    found = find_conflict(data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n"))
    return "" if found is None else f"a merge conflict is not resolved here, lines {found[0]} to {found[1]}"


def _is_marker(line: str, character: str) -> bool:
    mark = character * 7
    return line == mark or line.startswith(f"{mark} ")
