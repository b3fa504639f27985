"""Which bundled skills a sentence calls for: every sentence of `match_cases.json`, and what triggers may be."""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from skillpm import Registry, SkillService

BUNDLED = Path(__file__).parents[2] / "bundled"
NAMES = sorted(folder.name for folder in BUNDLED.iterdir())
PROGRAMS = ("claude", "git", "gog", "npx")
PLAYWRIGHT = ("playwright", "npx", ("@playwright/mcp@0.0.83", "--headless"))
# The only triggers without a space: names of programs, formats, sites and our own files, never everyday words.
SINGLE_WORDS = {
    "--allowedtools",
    "docs.google.com",
    "drive.google.com",
    "gogcli",
    "openapi",
    "pytest",
    "semver",
    "skill.md",
    "skillpm",
    "skills.json",
    "skills.lock",
    "vitest",
}


class Case(NamedTuple):
    """A sentence that a user may type, and the skills it must match."""

    message: str
    skills: tuple[str, ...]


def read_cases() -> list[Case]:
    rows = json.loads(Path(__file__).with_name("match_cases.json").read_text(encoding="utf-8"))
    return [Case(row["message"], tuple(row["skills"])) for row in rows]


CASES = read_cases()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> SkillService:
    """Serve the bundled skills on a machine that has every program they need."""
    bin_ = tmp_path_factory.mktemp("bin")
    for program in PROGRAMS:
        (bin_ / program).write_text("#!/bin/sh\n", encoding="utf-8")
        (bin_ / program).chmod(0o755)
    return SkillService(Registry.load(BUNDLED), environ={"PATH": str(bin_)})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.message)
def test_a_sentence_matches_exactly_the_skills_it_calls_for(service: SkillService, case: Case) -> None:
    found = service.match(case.message)

    skills = tuple(card.name for card in found.skills)
    servers = [(server.name, server.command, server.args) for server in found.servers]
    wanted = [PLAYWRIGHT] if "playwright-mcp" in case.skills else []
    assert (skills, servers, found.unusable) == (case.skills, wanted, ())


def test_the_table_has_many_sentences_for_each_skill_and_many_near_misses() -> None:
    counts = Counter(name for case in CASES for name in case.skills)

    assert sorted(counts) == NAMES
    assert {name: count for name, count in counts.items() if count < 10} == {}
    assert len([case for case in CASES if not case.skills]) >= 40
    assert len({case.message.casefold() for case in CASES}) == len(CASES) >= 80


def test_triggers_are_phrases_and_names_but_not_everyday_words() -> None:
    cards = Registry.load(BUNDLED).cards.values()
    triggers = [trigger for card in cards for trigger in card.triggers]

    assert {trigger for trigger in triggers if " " not in trigger} == SINGLE_WORDS
    assert triggers == [trigger.casefold() for trigger in triggers]
    assert [trigger for trigger, count in Counter(triggers).items() if count > 1] == []


def test_no_trigger_contains_another_one_of_the_same_skill() -> None:
    cards = Registry.load(BUNDLED).cards.values()

    assert [
        (card.name, longer, shorter)
        for card in cards
        for longer in card.triggers
        for shorter in card.triggers
        if shorter != longer and shorter in longer
    ] == []
