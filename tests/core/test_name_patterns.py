"""Patterns of names: the same result as `fnmatch`, in time that grows with the number of patterns and no faster."""

import fnmatch
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some
from kit.growth import calls_of, growth_of_calls

from skillpm.core.limits import MAX_INNER_WILDCARDS, MAX_NAME_PATTERN_LENGTH, MAX_NAME_PATTERNS
from skillpm.core.name_patterns import NamePatterns, check_patterns, matches_pattern
from skillpm.errors import DocumentError

PATTERNS = some.text("ab-*?[.", max_size=8)
NAMES = some.text("ab-[.*", max_size=8)


def matches(pattern: str, name: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


@given(PATTERNS, NAMES)
def test_a_pattern_matches_what_fnmatch_matches(pattern: str, name: str) -> None:
    assert matches_pattern(pattern, name) == matches(pattern, name)


@given(some.lists(PATTERNS, max_size=6), NAMES)
def test_of_many_patterns_the_last_that_matches_is_found(patterns: list[str], name: str) -> None:
    expected = max((number for number, pattern in enumerate(patterns) if matches(pattern, name)), default=-1)

    assert NamePatterns(patterns).find_last(name) == expected


KINDS: dict[str, Callable[[int], str]] = {
    "names": lambda number: f"skill-{number}",
    "beginnings": lambda number: f"skill-{number}-*",
    "ends": lambda number: f"*-skill-{number}",
    "wildcards in the middle": lambda number: f"*a{number}*",
}


@pytest.mark.parametrize("kind", KINDS)
def test_twice_the_patterns_take_twice_the_calls(kind: str) -> None:
    def work(number: int) -> None:
        patterns = [KINDS[kind](each) for each in range(number)]
        NamePatterns(patterns).find_last("none of them")

    assert growth_of_calls(work, 50) < 2.3


@pytest.mark.parametrize("kind", ["names", "beginnings", "ends"])
def test_a_name_is_looked_up_and_not_compared_with_each_pattern(kind: str) -> None:
    patterns = NamePatterns(KINDS[kind](number) for number in range(60_000))

    assert calls_of(lambda: patterns.find_last("none of them")) < 100


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ([f"a-{n}" for n in range(MAX_NAME_PATTERNS + 1)], "5,001 patterns; at most 5,000 are allowed"),
        (
            [f"a*{n}" for n in range(MAX_INNER_WILDCARDS + 1)],
            "101 patterns with wildcards in the middle; at most 100 are allowed",
        ),
        (["x" * 101], f"the pattern `{'x' * 59}…` has 101 characters; at most 100 are allowed"),
    ],
)
def test_too_many_patterns_are_an_error(patterns: list[str], message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        check_patterns(patterns, "skills.json: permissions")

    assert (caught.value.message, caught.value.where) == (message, "skills.json: permissions")


def test_as_many_patterns_as_are_allowed() -> None:
    inner = [f"a*{number}" for number in range(MAX_INNER_WILDCARDS)]
    others = [f"{number}-*".ljust(MAX_NAME_PATTERN_LENGTH, "*") for number in range(MAX_NAME_PATTERNS - len(inner))]

    check_patterns([*inner, *others], "skills.json: permissions")
