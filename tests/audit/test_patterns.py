"""A pattern is searched only around its words, so each match of it must have one of them, as a whole word."""

import re
from itertools import takewhile
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from skillpm.audit.model import Pattern
from skillpm.audit.rules import RULES
from skillpm.audit.rules.credentials import READS_VARIABLE, SENDS, STORED
from skillpm.audit.rules.vocabulary import UNSHOWN

PATTERNS = [
    *((rule.id, pattern) for rule in RULES.values() for pattern in rule.patterns),
    *((credential.name, credential.pattern) for credential in STORED),
    ("sends", SENDS),
    ("reads a variable", READS_VARIABLE),
    ("unshown", UNSHOWN),
]
EDGE = "\0"


def has_word(items: list[Any], words: set[str]) -> bool:
    """Return whether a sequence has a word in each of its matches: in one of its groups, or in letters beside them."""
    run: list[Any] = []
    for position, (code, value) in enumerate(items):
        if is_letter((code, value)):
            run.append((code, value))
            continue
        behind = [*takewhile(is_letter, items[position + 1 :])]
        if code is codes.BRANCH:
            branches = value[1]
        elif code is codes.SUBPATTERN:
            branches = [value[3]]
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT} and value[1] == 1:
            branches = [value[2]] if value[0] else [value[2], []]
        else:
            is_repeated = code in {codes.MAX_REPEAT, codes.MIN_REPEAT} and value[0]
            if is_repeated and has_word([*value[2]], words):
                return True
            branches = []
        if branches and all(has_word([*run, *branch, *behind], words) for branch in branches):
            return True
        if is_word(run, words):
            return True
        run = []
    return is_word(run, words)


def is_letter(item: tuple[Any, Any]) -> bool:
    return item[0] is codes.LITERAL or item == (codes.AT, codes.AT_BOUNDARY)


def is_word(run: list[Any], words: set[str]) -> bool:
    """Return whether letters between two edges are one of the words."""
    text = "".join(chr(value) if code is codes.LITERAL else EDGE for code, value in run)
    parts = "".join(EDGE if not (letter.isalnum() or letter == "_") else letter for letter in text)
    pieces = parts.split(EDGE)
    return any(piece in words for piece in pieces[1:-1])


@pytest.mark.parametrize(("name", "pattern"), PATTERNS)
def test_an_optional_line_break_is_part_of_what_follows_it(name: str, pattern: Pattern) -> None:
    """Between two repeats of one class, it lets them share a line in as many ways as it has characters: `.*\\n?.*`."""
    assert r"\n?[^" not in pattern.text, name


@pytest.mark.parametrize(
    ("name", "pattern"), PATTERNS, ids=[f"{name}: {pattern.words[:30]}" for name, pattern in PATTERNS]
)
def test_each_match_of_a_pattern_has_one_of_its_words(name: str, pattern: Pattern) -> None:
    assert has_word([*parser.parse(pattern.text)], {*pattern.words.split()}), name


def test_a_pattern_that_can_match_without_its_words_is_recognized() -> None:
    for text in (
        r"\bcurlx?\b",
        r"(?:\bcurl\b|wget\b)",
        r"(?:\bcurl\b)?x",
        r"\bcurl",
        r"\b(?:curl){1,2}\b",
        r"\bcurls{0,2}\b",
    ):
        assert not has_word([*parser.parse(text)], {"curl", "wget"}), text
    for text in (r"\b(?:curl|wget)\b", r"x(?:\.curl /|\bwget\b)", r"(?:\bcurl\b){1,2}", r"(?:a|b)\bwget\b"):
        assert has_word([*parser.parse(text)], {"curl", "wget"}), text


@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=lambda each: each if isinstance(each, str) else "")
def test_patterns_and_words_are_in_lower_case(name: str, pattern: Pattern) -> None:
    literal = re.sub(r"\\.|\(\?[a-zA-Z]+[:)]", "", pattern.text)

    assert (literal, pattern.words) == (literal.lower(), pattern.words.lower()), name
