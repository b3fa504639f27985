"""Fit a catalog into a token budget: shorten descriptions first, and leave skills out only if necessary. Pure."""

from collections.abc import Callable, Sequence

from skillpm.core.text import estimate_tokens
from skillpm.serving.renderers.base import RenderedSkill

RenderCatalog = Callable[[Sequence[RenderedSkill]], str]


def fit_to_budget(skills: Sequence[RenderedSkill], render: RenderCatalog, budget: int) -> tuple[RenderedSkill, ...]:
    """Return the skills with descriptions cut to the greatest common length that fits the budget.

    If even the names alone exceed it, the last skills are left out.
    """

    def fits(selection: Sequence[RenderedSkill]) -> bool:
        return estimate_tokens(render(selection)) <= budget

    if fits(skills):
        return tuple(skills)
    longest = max(len(skill.description) for skill in skills)
    length = _find_largest(longest, lambda length: fits([shorten_description(skill, length) for skill in skills]))
    shortened = [shorten_description(skill, length) for skill in skills]
    return tuple(shortened[: _find_largest(len(shortened), lambda count: fits(shortened[:count]))])


def shorten_description(skill: RenderedSkill, length: int) -> RenderedSkill:
    """Return a skill whose description has at most `length` characters, cut between words if possible."""
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
    """Return the largest number from 0 to `highest` that fits, by binary search: `fits` must be monotonic."""
    low, high = 0, highest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
