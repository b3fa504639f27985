"""What somebody may have meant: the known words nearest to a mistyped one."""

from collections.abc import Iterable


def near(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Give the known words nearest to a mistyped one, best first."""
    from difflib import get_close_matches  # noqa: PLC0415  (only after a mistake)

    return tuple(get_close_matches(word, list(known), n=3, cutoff=0.6))
