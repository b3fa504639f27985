"""What is made from the rules says what the rules say."""

import re
from pathlib import Path

import pytest
from kit.rules_page import PAGE, RULE_SET, render_page, render_rule_set

from skillpm.audit import rule_set
from skillpm.audit.rules import RULES

COMMAND = "run `python tests/kit/rules_page.py`"


def test_the_page_is_made_from_the_rules() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(), COMMAND


def test_the_version_of_the_rule_set_is_the_digest_of_rules_and_engine() -> None:
    """Verdicts in the cache are those of one version: without a new one, changed rules find what the old ones did."""
    assert RULE_SET.read_text(encoding="utf-8") == render_rule_set(), COMMAND
    assert RULES.keys() == rule_set.RULE_IDS, COMMAND


@pytest.mark.parametrize("rule", rule_set.GONE)
def test_a_rule_that_is_gone_is_no_rule(rule: str) -> None:
    assert rule not in RULES


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_pages_say_how_many_rules_there_are(page: str) -> None:
    text = Path(__file__).parents[2].joinpath(page).read_text(encoding="utf-8")

    assert {*re.findall(r"(\d+) rules", text)} == {str(len(RULES))}
