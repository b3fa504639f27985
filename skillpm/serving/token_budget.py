"""A catalogue within a budget of tokens: descriptions are shortened first, and only then skills left out. Pure."""

from collections.abc import Callable, Sequence

from skillpm.core.token_estimate import estimate_tokens
from skillpm.serving.renderers.base import RenderedSkill

RenderCatalog = Callable[[Sequence[RenderedSkill]], str]


def fit_to_budget(skills: Sequence[RenderedSkill], render: RenderCatalog, budget: int) -> tuple[RenderedSkill, ...]:
    """Give the skills with their descriptions as long as the budget allows, all cut at the same length.

    Where even names alone are too many, the last ones go.
    """

    def fits(some: Sequence[RenderedSkill]) -> bool:
        return estimate_tokens(render(some)) <= budget

    if fits(skills):
        return tuple(skills)
    longest = max(len(told.description) for told in skills)
    length = _find_largest(longest, lambda length: fits([shorten_description(told, length) for told in skills]))
    short = [shorten_description(told, length) for told in skills]
    return tuple(short[: _find_largest(len(short), lambda count: fits(short[:count]))])


def shorten_description(skill: RenderedSkill, length: int) -> RenderedSkill:
    """Give a skill with a description of at most so many characters, cut between words where there is a blank."""
    text = skill.description
    if len(text) <= length:
        return skill
    if length < 1:
        return skill.replace(description="")
    head = text[: length - 1]
    if not text[length - 1].isspace() and " " in head:
        head = head[: head.rindex(" ")]
    return skill.replace(description=head.rstrip(" ,;:") + "…")


def _find_largest(highest: int, fits: Callable[[int], bool]) -> int:
    """Give the highest number, from 0, that fits; fitting ends somewhere and does not begin again."""
    low, high = 0, highest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
