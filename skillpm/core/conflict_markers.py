"""Git's conflict markers: a SKILL.md that has them must not be taken for instructions, and a lockfile can be merged."""

from skillpm.core.patterns import lazy_pattern

FENCE = lazy_pattern(r"[ \t]*(```+|~~~+)")
# The markers in the order in which git writes them: what each may follow.
MARKERS_BEFORE = {"<": ">", "|": "<", "=": "<|", ">": "="}
RESOLVE_HINT = "keep one side, or combine both, and delete the lines with <<<<<<<, ======= and >>>>>>>"
MERGE_HINT = "`skillpm lock` merges both sides, except in CI; or "
TAKE_ONE_HINT = "take one: `git checkout --ours skills.lock`, then `skillpm lock`"


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


def split_sides(text: str) -> tuple[str, str] | None:
    """Return the two versions of a text with conflict markers, without the base that `diff3` adds.

    None if the markers are not in order, or if there are none.
    """
    ours, theirs = [], []
    last, count = ">", 0  # the last marker, and the number of conflicts
    for line in text.splitlines(keepends=True):
        marker = next((marker for marker in MARKERS_BEFORE if _is_marker(line.rstrip("\r\n"), marker)), "")
        if marker and last not in MARKERS_BEFORE[marker]:
            return None
        if marker:
            last, count = marker, count + (marker == ">")
            continue
        if last in "<>":
            ours.append(line)
        if last in "=>":
            theirs.append(line)
    return ("".join(ours), "".join(theirs)) if count and last == ">" else None


def conflict_warning(data: bytes) -> str:
    """Return a warning about the first unresolved conflict in the bytes of a SKILL.md; empty if there is none."""
    if b"<<<<<<<" not in data:
        return ""
    lines = find_conflict(data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n"))
    return "" if lines is None else f"unresolved merge conflict, lines {lines[0]} to {lines[1]}"


def _is_marker(line: str, character: str) -> bool:
    marker = character * 7
    return line == marker or line.startswith(f"{marker} ")
