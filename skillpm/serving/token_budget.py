"""A catalogue within a budget of tokens: descriptions are shortened first, and only then skills left out. Pure."""

from collections.abc import Callable, Sequence

from skillpm.core.token_estimate import tokens_in
from skillpm.serving.renderers.base import Told

Written = Callable[[Sequence[Told]], str]


def within_budget(skills: Sequence[Told], written: Written, budget: int) -> tuple[Told, ...]:
    """Give the skills with their descriptions as long as the budget allows, all cut at the same length.

    Where even names alone are too many, the last ones go.
    """

    def fits(some: Sequence[Told]) -> bool:
        return tokens_in(written(some)) <= budget

    if fits(skills):
        return tuple(skills)
    longest = max(len(told.description) for told in skills)
    length = _most(longest, lambda length: fits([shortened(told, length) for told in skills]))
    short = [shortened(told, length) for told in skills]
    return tuple(short[: _most(len(short), lambda count: fits(short[:count]))])


def shortened(told: Told, length: int) -> Told:
    """Give a skill with a description of at most so many characters, cut between words where there is a blank."""
    text = told.description
    if len(text) <= length:
        return told
    if length < 1:
        return told.but(description="")
    head = text[: length - 1]
    if not text[length - 1].isspace() and " " in head:
        head = head[: head.rindex(" ")]
    return told.but(description=head.rstrip(" ,;:") + "…")


def _most(highest: int, fits: Callable[[int], bool]) -> int:
    """Give the highest number, from 0, that fits; fitting ends somewhere and does not begin again."""
    low, high = 0, highest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
