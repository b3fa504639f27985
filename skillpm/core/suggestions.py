"""Suggestions for mistyped words: `did you mean ...?`, short lists of names, and how to add an extra."""

from collections.abc import Iterable, Sequence

from skillpm.core.text import sanitize

MAX_SUGGESTIONS = 3
# difflib ranks; it is too generous to decide. It takes `zz` for a misspelling of `jazz`, since half the letters agree.
MIN_SIMILARITY = 0.6
# A word this long suggests the names it is a part of: `claude` suggests `claude-code`.
MIN_PART_LENGTH = 4


def closest_matches(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known words that `word` may be a misspelling of, best first. Upper case does not count."""
    from difflib import get_close_matches  # noqa: PLC0415  (only after a mistake)

    names, word = {name.lower(): name for name in known}, word.lower()
    ranked = get_close_matches(word, list(names), n=10 * MAX_SUGGESTIONS, cutoff=MIN_SIMILARITY)
    plausible = [name for name in ranked if _is_plausible(word, name)]
    if not plausible and len(word) > MIN_PART_LENGTH:  # `tesst` suggests `testing`
        plausible = [name for name in ranked if min(_edit_distances(word, name)) <= 1]
    return tuple(names[name] for name in plausible)[:MAX_SUGGESTIONS]


def did_you_mean(names: Sequence[str]) -> str:
    """Return "did you mean `a`, `b` or `c`?" for names of any origin; empty for none."""
    quoted = [f"`{sanitize(name, 80)}`" for name in names]
    return f"did you mean {' or '.join(filter(None, (', '.join(quoted[:-1]), quoted[-1])))}?" if quoted else ""


def suggestion_hint(word: str, known: Iterable[str], fallback: str = "") -> str:
    """Return "did you mean ...?" for a mistyped word, or `fallback` where no known word is similar."""
    return did_you_mean(closest_matches(word, known)) or fallback


def list_some(names: Sequence[str], max_names: int, max_length: int = 80) -> str:
    """Return the first names of a list, followed by "(3 of 12)" if these are not all."""
    listed = ", ".join(sanitize(name, max_length) for name in names[:max_names])
    return f"{listed} ({max_names} of {len(names)})" if len(names) > max_names else listed


def _is_plausible(word: str, name: str) -> bool:
    """Return whether so few edits separate two words that one is a misspelling of the other, or one is a part of it.

    One edit for each three letters, as rustc allows: two edits turn any word of three letters into some other.
    """
    shorter, longer = sorted((word, name), key=len)
    is_part = len(shorter) >= MIN_PART_LENGTH and f"-{shorter}-" in f"-{longer}-"
    return is_part or _edit_distances(word, name)[-1] <= max(len(word), 3) // 3


def _edit_distances(one: str, other: str) -> list[int]:
    """Count the letters to insert, remove, replace or swap with a neighbor (optimal string alignment distance).

    Returns the counts for each beginning of the other word, the shortest first.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, target in enumerate(other, 1):
            distance = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != target))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == target:
                distance = min(distance, last[j - 2] + 1)
            row.append(distance)
    return row


def extra_hint(extra: str) -> str:
    """Return how to add an extra: with the tool that installed skillpm, since another one makes a second copy."""
    requirement = f"'agent-skillpm[{extra}]'"
    return (
        f"add the extra `{extra}` with the tool that installed skillpm: `uv tool install {requirement}`, "
        f"`pipx install --force {requirement}`, or `pip install {requirement}` in its environment"
    )
