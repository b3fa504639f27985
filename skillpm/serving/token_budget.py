"""Fit a catalog into a token budget, the most relevant skills first. Pure.

First, descriptions are shortened to the greatest common length that fits, as long as a useful piece of each is left;
then, the catalog takes a denser form. If that is not enough, the least relevant skills are listed by name alone, and
if all names do not fit either, the least relevant ones are left out, and the catalog says how many.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from zlib import crc32

from skillpm.core.name_patterns import NamePatterns
from skillpm.core.text import estimate_tokens
from skillpm.core.values import Value
from skillpm.registry.card import Card
from skillpm.serving.renderers.base import NONE_OMITTED, OmittedSkills, SkillSummary
from skillpm.serving.renderers.body_modes import Mode

MIN_DESCRIPTION_LENGTH = 40  # characters; a shorter piece seldom says what a skill is for
SAMPLE_SIZE = 200
# Of a tool's description: Claude Code reserves one percent of a context window for its own list of skills.
DESCRIPTION_BUDGET = 2_000
# Of the answer to `list`, and by default of a catalog for Python: Claude Code cuts those of MCP tools at 25,000 tokens.
LIST_BUDGET = 20_000
RenderCatalog = Callable[[Sequence[SkillSummary], OmittedSkills], str]


class FittedCatalog(Value):
    """A catalog within its budget."""

    text: str
    # Those with a description, which may be shortened.
    skills: tuple[SkillSummary, ...]
    omitted: OmittedSkills = NONE_OMITTED


def catalog_forms(
    render: Callable[[Sequence[SkillSummary], Mode, OmittedSkills], str], mode: Mode
) -> list[RenderCatalog]:
    """Return the forms that a catalog in a mode may take, the densest last."""

    def in_mode(mode: Mode) -> RenderCatalog:
        return lambda skills, omitted: render(skills, mode, omitted)

    return [in_mode("full"), in_mode("compact")] if mode == "full" else [in_mode(mode)]


def sort_by_name(render: RenderCatalog) -> RenderCatalog:
    """Return the same form with the skills sorted by name."""

    def render_sorted(skills: Sequence[SkillSummary], omitted: OmittedSkills) -> str:
        names = tuple(sorted(omitted.names))
        return render(sorted(skills, key=lambda skill: skill.card.name), omitted.replace(names=names))

    return render_sorted


def fit_to_budget(
    skills: Sequence[SkillSummary],
    renders: Sequence[RenderCatalog],
    budget: int,
    measure: Callable[[str], int] = estimate_tokens,
) -> FittedCatalog:
    """Return the catalog of skills, most relevant first, that says the most in `budget` tokens, or in what `measure`
    counts.

    `renders` are the forms it may take, the densest last. A budget that is too small even for the number of skills
    gives an empty text.
    """
    if not skills:
        return FittedCatalog(text=renders[0](skills, NONE_OMITTED), skills=())
    shortest = _shorten_all(skills, MIN_DESCRIPTION_LENGTH)
    for render in renders:
        if measure(render(shortest, NONE_OMITTED)) <= budget:
            shown = _shorten_to_fit(skills, render, budget, measure)
            return FittedCatalog(text=render(shown, NONE_OMITTED), skills=tuple(shown))
    return _omit_to_fit(shortest, renders[-1], budget, measure)


def _shorten_to_fit(
    skills: Sequence[SkillSummary], render: RenderCatalog, budget: int, measure: Callable[[str], int]
) -> Sequence[SkillSummary]:
    """Return the skills with descriptions of the greatest common length that fits; the shortest one does."""

    def fits(some: Sequence[SkillSummary], budget: int) -> bool:
        return measure(render(some, NONE_OMITTED)) <= budget

    if fits(skills, budget):
        return skills
    longest = max(len(skill.description) for skill in skills)
    # The tokens of a catalog are nearly those of its skills, so a few of them show where to search.
    sample = skills[:: len(skills) // SAMPLE_SIZE + 1]
    share = budget * len(sample) // len(skills)
    lowest = MIN_DESCRIPTION_LENGTH
    guess = _find_largest(
        lowest, longest, lambda length: fits(_shorten_all(sample, length), share), (lowest + longest) // 2
    )
    length = _find_largest(lowest, longest, lambda length: fits(_shorten_all(skills, length), budget), guess)
    return _shorten_all(skills, length)


def _omit_to_fit(
    skills: Sequence[SkillSummary], render: RenderCatalog, budget: int, measure: Callable[[str], int]
) -> FittedCatalog:
    """Return a catalog with the names of all skills and as many descriptions as fit.

    If the names of all leave less than half of the budget for descriptions, one half is for skills with a description
    and the other for names.
    """
    total = len(skills)

    def make(described: int, named: int) -> FittedCatalog:
        names = tuple(skill.card.name for skill in skills[described : described + named])
        shown, omitted = tuple(skills[:described]), OmittedSkills(names=names, count=total - described - named)
        return FittedCatalog(text=render(shown, omitted), skills=shown, omitted=omitted)

    def fits(described: int, named: int, budget: int = budget) -> bool:
        return measure(make(described, named).text) <= budget

    frame = measure(make(0, 0).text)
    if frame > budget:
        return FittedCatalog(text="", skills=(), omitted=OmittedSkills(count=total))
    guess = budget * total // measure(render(skills, NONE_OMITTED))
    half = _find_largest(0, total, lambda described: fits(described, 0, (frame + budget) // 2), guess // 2)
    if fits(half, total - half):
        described = _find_largest(half, total, lambda described: fits(described, total - described), guess)
        return make(described, total - described)
    return make(half, _find_largest(0, total - half, lambda named: fits(half, named), guess))


def _shorten_all(skills: Sequence[SkillSummary], length: int) -> list[SkillSummary]:
    return [shorten_description(skill, length) for skill in skills]


def shorten_description(skill: SkillSummary, length: int) -> SkillSummary:
    """Return a skill whose description has at most `length` characters, cut between words if possible."""
    text = skill.description
    if len(text) <= length:
        return skill
    head = text[: length - 1]
    if not text[length - 1].isspace() and " " in head:
        head = head[: head.rindex(" ")]
    return skill.replace(description=head.rstrip(" ,;:") + "…")


def _find_largest(lowest: int, highest: int, fits: Callable[[int], bool], guess: int) -> int:
    """Return the largest number between these that fits; `fits` must be monotonic, and is not asked about `lowest`.

    Numbers near the guess are tried first, in growing steps, and then by binary search.
    """
    low, high = lowest, highest
    middle, step = min(max(guess, lowest + 1), highest), 1
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


def sort_by_relevance(
    skills: Iterable[SkillSummary], *, found: Iterable[Card], priority: Sequence[str], last_used: Mapping[str, float]
) -> list[SkillSummary]:
    """Return skills, the most relevant first.

    `found` are the results of a search for the task, best first. Then come those with a declared `priority` (names and
    patterns, the most important first), then those used most recently, then all others.
    """
    ranks = {card.name: rank for rank, card in enumerate(found)}
    # The first pattern that matches counts, so they are searched from the end.
    patterns = NamePatterns(reversed(priority))

    def key(skill: SkillSummary) -> tuple[int, int, float, int]:
        name = skill.card.name
        declared = len(priority) - 1 - patterns.find_last(name)
        # Not by name: skills of one kind often begin alike, and a whole kind must not be missing.
        return ranks.get(name, len(ranks)), declared, -last_used.get(name, 0.0), crc32(name.encode())

    return sorted(skills, key=key)
