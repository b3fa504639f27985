"""What somebody may have meant: the known words nearest to a mistyped one."""

from collections.abc import Iterable, Sequence

from skillpm.core.text import sanitize


def closest_matches(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Give the known words nearest to a mistyped one, best first."""
    from difflib import get_close_matches  # noqa: PLC0415  (only after a mistake)

    return tuple(get_close_matches(word, list(known), n=3, cutoff=0.6))


def suggestion_hint(word: str, known: Iterable[str], fallback: str) -> str:
    """Give the hint to a mistyped word: the known words nearest to it, or what else to try where none is near."""
    similar = closest_matches(word, known)
    return f"did you mean {', '.join(sanitize(name, 80) for name in similar)}?" if similar else fallback


def list_some(names: Sequence[str], max_names: int, max_length: int = 80) -> str:
    """Name some of many, and say how many there are where these are not all."""
    said = ", ".join(sanitize(name, max_length) for name in names[:max_names])
    return f"{said} ({max_names} of {len(names)})" if len(names) > max_names else said
