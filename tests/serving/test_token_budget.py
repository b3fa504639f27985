"""A catalog within a token budget is the one that trying every length and every count finds."""

from collections.abc import Sequence
from random import Random

import pytest

from skillpm.core.text import estimate_tokens
from skillpm.registry.card import Card
from skillpm.serving.renderers.base import RenderedSkill, Renderer
from skillpm.serving.renderers.styles import RENDERERS
from skillpm.serving.token_budget import fit_to_budget, shorten_description

WORDS = ["a", "word", "<x&y>", "ünïcödé", "longer-word,"]


def make_skills(dice: Random) -> list[RenderedSkill]:
    """Return more skills than the sample of `fit_to_budget` in some cases, with descriptions of different lengths."""
    skills = []
    for number in range(dice.choice([0, 1, 2, 30, 230])):
        text = " ".join(dice.choice(WORDS) for _ in range(dice.choice([0, 1, 5, 12])))
        card = Card({"name": f"s{number}", "description": text, "triggers": [], "filePath": "x"}, "/skills")
        skills.append(RenderedSkill(card=card, description=text))
    return skills


def try_everything(skills: Sequence[RenderedSkill], style: Renderer, budget: int) -> str:
    longest = max((len(skill.description) for skill in skills), default=0)
    for length in range(longest, 0, -1):
        text = style.render_catalog([shorten_description(skill, length) for skill in skills], "full")
        if estimate_tokens(text) <= budget:
            return text
    names = [shorten_description(skill, 0) for skill in skills]
    texts = (style.render_catalog(names[:count], "full") for count in range(len(names), 0, -1))
    return next((text for text in texts if estimate_tokens(text) <= budget), style.render_catalog([], "full"))


@pytest.mark.parametrize("style", RENDERERS.values(), ids=RENDERERS.keys())
def test_the_catalog_is_the_largest_that_fits(style: Renderer) -> None:
    dice = Random(1)
    for _ in range(8):
        skills = make_skills(dice)
        whole = style.render_catalog(skills, "full")
        budget = dice.randint(0, estimate_tokens(whole) + 2)

        shown, text = fit_to_budget(skills, lambda some: style.render_catalog(some, "full"), budget)

        assert text == style.render_catalog(shown, "full")
        assert text == (whole if estimate_tokens(whole) <= budget else try_everything(skills, style, budget))
