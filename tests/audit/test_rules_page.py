"""The page of the rules says what the rules say."""

from kit.rules_page import PAGE, render_page


def test_the_page_is_made_from_the_rules() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(), "run `python tests/kit/rules_page.py`"
