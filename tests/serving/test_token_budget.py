"""A catalog within a token budget is the one that trying every length and every count finds."""

from collections.abc import Iterator, Sequence
from itertools import count
from random import Random

import pytest

from skillpm.core.text import estimate_tokens
from skillpm.registry.card import Card
from skillpm.serving.renderers.base import NONE_OMITTED, OmittedSkills, Renderer, SkillSummary
from skillpm.serving.renderers.body_modes import MODES, Mode
from skillpm.serving.renderers.styles import RENDERERS
from skillpm.serving.token_budget import (
    MIN_DESCRIPTION_LENGTH,
    FittedCatalog,
    RenderCatalog,
    catalog_forms,
    fit_to_budget,
    shorten_description,
    sort_by_relevance,
)

WORDS = ["a", "word", "<x&y>", "ünïcödé", "longer-word,"]


def make_skill(name: str, description: str = "Does it.") -> SkillSummary:
    card = Card({"name": name, "description": description, "triggers": [], "filePath": "x"}, "/skills")
    return SkillSummary(card=card, description=description)


def make_skills(dice: Random) -> list[SkillSummary]:
    """Return more skills than the sample of `fit_to_budget` in some cases, with descriptions of different lengths."""
    texts = (" ".join(dice.choice(WORDS) for _ in range(dice.choice([0, 1, 5, 30]))) for _ in count())
    return [make_skill(f"s{number}", next(texts)) for number in range(dice.choice([0, 1, 2, 30, 230]))]


def try_everything(skills: Sequence[SkillSummary], forms: Sequence[RenderCatalog], budget: int) -> Iterator[str]:
    """Yield catalogs, the one that says most first."""
    longest = max((len(skill.description) for skill in skills), default=0)
    for form in forms:
        for length in range(max(longest, MIN_DESCRIPTION_LENGTH), MIN_DESCRIPTION_LENGTH - 1, -1):
            yield form([shorten_description(skill, length) for skill in skills], NONE_OMITTED)
    pieces = [shorten_description(skill, MIN_DESCRIPTION_LENGTH) for skill in skills]
    names = tuple(skill.card.name for skill in skills)
    total, form = len(skills), forms[-1]
    frame = estimate_tokens(form([], OmittedSkills(count=total)))
    halves = (
        number
        for number in range(total, 0, -1)
        if estimate_tokens(form(pieces[:number], OmittedSkills(count=total - number))) <= (frame + budget) // 2
    )
    half = next(halves, 0)
    for described in range(total, half - 1, -1):
        yield form(pieces[:described], OmittedSkills(names=names[described:]))
    for end in range(total, half - 1, -1):
        yield form(pieces[:half], OmittedSkills(names=names[half:end], count=total - end))
    yield ""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("style", RENDERERS.values(), ids=RENDERERS.keys())
def test_the_catalog_is_the_largest_that_fits(style: Renderer, mode: Mode) -> None:
    dice = Random(1)
    for _ in range(6):
        skills, forms = make_skills(dice), catalog_forms(style.render_catalog, mode)
        budget = dice.randint(0, estimate_tokens(forms[0](skills, NONE_OMITTED)) + 2)

        fitted = fit_to_budget(skills, forms, budget)

        assert not skills or estimate_tokens(fitted.text) <= budget
        assert len(fitted.skills) + len(fitted.omitted.names) + fitted.omitted.count == len(skills)
        best = (text for text in try_everything(skills, forms, budget) if estimate_tokens(text) <= budget)
        assert fitted.text == (next(best) if skills else forms[0]([], NONE_OMITTED))


def test_a_skill_that_is_not_listed_is_counted_and_the_text_says_how_to_find_it() -> None:
    skills = [make_skill(f"s{number}", "Reviews what was changed in a pull request.") for number in range(90)]

    fitted = fit_to_budget(skills, catalog_forms(RENDERERS["default"].render_catalog, "full"), 70)

    assert fitted == FittedCatalog(
        text=(
            "<available_skills>\n"
            "- s0: Reviews what was changed in a pull…\n"
            "Other skills, by name: s1, s2, s3, s4, s5, s6, s7, s8.\n"
            "81 more skills are not listed. Search for what a task needs: with `query` in the tool `skill`, or "
            "`skillpm search --installed WORDS`.\n"
            "</available_skills>"
        ),
        skills=(shorten_description(skills[0], MIN_DESCRIPTION_LENGTH),),
        omitted=OmittedSkills(names=("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"), count=81),
    )


def test_the_task_counts_before_the_declared_priority_and_that_before_the_last_use() -> None:
    skills = [make_skill(name) for name in ("aa", "ab", "pinned", "recent", "older", "wanted", "wanted-too")]
    found = [skills[5].card, skills[6].card]

    order = sort_by_relevance(
        skills, found=found, priority=["p*"], last_used={"recent": 20.0, "older": 10.0, "removed": 30.0}
    )

    names = [skill.card.name for skill in order]
    assert names[:5] == ["wanted", "wanted-too", "pinned", "recent", "older"]
    assert sorted(names[5:]) == ["aa", "ab"]


def test_skills_of_equal_relevance_are_not_in_the_order_of_the_alphabet() -> None:
    skills = [make_skill(f"{kind}-{number}") for kind in ("azure", "python") for number in range(50)]

    order = sort_by_relevance(skills, found=(), priority=(), last_used={})

    first = [skill.card.name.split("-")[0] for skill in order[:20]]
    assert {"azure", "python"} == set(first)
