"""Fit a catalog into a token budget: shorten descriptions first, and leave skills out only if necessary. Pure."""

from collections.abc import Callable, Sequence

from skillpm.core.text import estimate_tokens
from skillpm.serving.renderers.base import RenderedSkill

SAMPLE_SIZE = 200
RenderCatalog = Callable[[Sequence[RenderedSkill]], str]


def fit_to_budget(
    skills: Sequence[RenderedSkill], render: RenderCatalog, budget: int
) -> tuple[Sequence[RenderedSkill], str]:
    """Return the skills with descriptions cut to the greatest common length that fits the budget, and the catalog.

    If even the names alone exceed it, the last skills are left out.
    """
    rendered: list[tuple[Sequence[RenderedSkill], str]] = []  # the largest selection that fits so far

    def fits(selection: Sequence[RenderedSkill]) -> bool:
        text = render(selection)
        is_small = estimate_tokens(text) <= budget
        if is_small:
            rendered[:] = [(selection, text)]
        return is_small

    if not skills:
        return skills, render(skills)
    if fits(skills):
        return rendered[0]
    # The tokens of a catalog are nearly those of its skills, so a few of them show where to search.
    sample = skills[:: len(skills) // SAMPLE_SIZE + 1]
    share = budget * len(sample) // len(skills)
    longest = max(len(skill.description) for skill in skills)
    guess = _find_largest(
        longest, lambda length: estimate_tokens(render(_shorten_all(sample, length))) <= share, longest // 2
    )
    length = _find_largest(longest, lambda length: fits(_shorten_all(skills, length)), guess)
    if length == 0:
        names = _shorten_all(skills, 0)
        total = estimate_tokens(render(names))
        _find_largest(len(names), lambda count: fits(names[:count]), len(names) * budget // max(total, 1))
    return rendered[0] if rendered else ((), render(()))


def _shorten_all(skills: Sequence[RenderedSkill], length: int) -> list[RenderedSkill]:
    return [shorten_description(skill, length) for skill in skills]


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


def _find_largest(highest: int, fits: Callable[[int], bool], guess: int) -> int:
    """Return the largest number from 0 to `highest` that fits; `fits` must be monotonic, and is not asked about 0.

    Numbers near the guess are tried first, in growing steps, and then by binary search.
    """
    low, high = 0, highest
    middle, step = min(max(guess, 1), highest), 1
    while low < high:
        if fits(middle):
            low = middle
            middle = low + step
        else:
            high = middle - 1
            middle = high - step + 1
        step *= 2
        if not low < middle <= high:
            middle = (low + high + 1) // 2
    return low
