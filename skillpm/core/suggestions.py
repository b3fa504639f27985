"""What somebody may have meant: the known words nearest to a mistyped one."""

from collections.abc import Iterable, Sequence

from skillpm.core.text import show


def near(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Give the known words nearest to a mistyped one, best first."""
    from difflib import get_close_matches  # noqa: PLC0415  (only after a mistake)

    return tuple(get_close_matches(word, list(known), n=3, cutoff=0.6))


def guess(word: str, known: Iterable[str], otherwise: str) -> str:
    """Give the hint to a mistyped word: the known words nearest to it, or what else to try where none is near."""
    similar = near(word, known)
    return f"did you mean {', '.join(show(name, 80) for name in similar)}?" if similar else otherwise


def few(names: Sequence[str], most: int, longest: int = 80) -> str:
    """Name some of many, and say how many there are where these are not all."""
    said = ", ".join(show(name, longest) for name in names[:most])
    return f"{said} ({most} of {len(names)})" if len(names) > most else said
