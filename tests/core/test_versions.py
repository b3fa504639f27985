"""Versions and version ranges."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from packaging.version import Version

from skillpm.core.versions import filter_versions, is_range, is_version, matches, quick_contains
from skillpm.errors import UsageError

HINT = "e.g. `^1.2`, `~1.2`, `>=1.2,<2` or `1.2.0`, with commas between its parts"


RANGES = [
    ("*", "0.0.1 1.2.3 main", "2.0a1 1.0.dev3"),
    (" * ", "1.0", ""),
    ("1.2.0", "1.2.0 v1.2.0 1.2 1.2.0.0 1.2.0+build", "1.2.1 1.2.0b1 1.2.0.post1 main"),
    ("v1.2.0", "1.2.0 v1.2", "1.2.1"),
    ("1.*", "1.0 1.9.9", "2.0 0.9 1.5b1"),
    ("==1.2.0", "1.2.0 1.2", "1.2.1"),
    ("==1.*", "1 1.0 1.99", "2 0.9 1.0b1"),
    ("===1.2.0", "1.2.0", "1.2 1.2.1"),
    ("!=1.2.0", "1.2.1 1.3", "1.2.0 1.2 1.3b1"),
    ("!=1.*", "0.9 2", "1.0 1.7"),
    (">=1.2", "1.2 1.2.0 2 10", "1.1.9 1.2b1 2.0b1"),
    (">1.2", "1.2.1 2", "1.2 1.1"),
    ("<=1.2", "1.2 0.1", "1.2.1 0.1b1"),
    ("<2", "1.9.9 0", "2 2.0a1 2.0"),
    (">=1.2,<2", "1.2 1.99", "1.1 2 2.0rc1"),
    (" >= 1.2 , < 2 ", "1.2 1.99", "1.1 2"),
    (">=1,<2,!=1.5", "1.4 1.6", "1.5 1.5.0"),
    ("~=1.4.2", "1.4.2 1.4.9", "1.5 1.4.1"),
    ("~=1.4", "1.4 1.9", "2.0 1.3"),
    ("^1.2.3", "1.2.3 1.9", "1.2.2 2 2.0b1 1.3b1"),
    ("^1.2", "1.2 1.2.0 1.9", "1.1 2"),
    ("^1", "1 1.9.9", "0.9 2"),
    ("^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3"),
    ("^0.2", "0.2 0.2.9", "0.1 0.3"),
    ("^0.0.3", "0.0.3", "0.0.2 0.0.4"),
    ("^0.0", "0 0.0.9", "0.1"),
    ("^0", "0 0.9", "1"),
    ("^1.2.dev3", "1.2.dev3 1.2 1.9", "1.2.dev2 2"),
    ("^v1.2", "1.2 v1.3", "2"),
    ("^ 1.2", "1.3", "2"),
    ("^1.2.0.4", "1.2.0.4 1.3", "1.2.0.3 2"),
    ("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3"),
    ("~1.2", "1.2 1.2.9", "1.1 1.3"),
    ("~1", "1 1.9", "0.9 2"),
    ("~0", "0 0.9", "1"),
    ("^1,!=1.5", "1.4", "1.5 2"),
    ("^1.0.0-beta.1", "1.0.0-beta.1 1.0.0b2 1.0 1.5 1.6a1", "1.0.0-alpha.9 2 2.0b1"),
    ("^1.0b1", "1.0b1 1.0b2 1.0 1.9", "1.0a1 2"),
    ("~1.2rc1", "1.2rc1 1.2 1.2.5", "1.2b9 1.3"),
    ("1.0.0-beta.1", "1.0.0b1 1.0.0-beta.1 1.0.0.beta1", "1.0.0 1.0.0b2"),
    (">=2.0.dev1", "2.0.dev1 2.0a1 2.1b1", "1.9 2.0.dev0"),
    ("^1!2.0", "1!2.1", "2.1 1!3"),
    ("1.0+linux-x64", "1.0+linux-x64 1.0+linux.x64", "1.0 1.0+mac"),
]
"""A range, the versions in it, and versions that are not."""


@pytest.mark.parametrize(("wanted", "inside", "outside"), RANGES)
def test_a_range_contains_the_expected_versions(wanted: str, inside: str, outside: str) -> None:
    assert is_range(wanted)
    verdicts = {version: matches(wanted, version) for version in (inside + " " + outside).split()}
    assert verdicts == dict.fromkeys(inside.split(), True) | dict.fromkeys(outside.split(), False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "latest",
        "main",
        "x",
        "v",
        "^",
        ">=",
        "^x",
        "=1.2",
        "^=1.2",
        "~==1.2",
        "!1.2",
        "<>1",
        "=>1",
        ">=1.2 <2",
        "1.2 || 2",
        "1.2 - 2.0",
        ">=1.2,",
        ",>=1.2",
        ">=1,,<2",
        "1.2,<2",
        ">=1.*",
        "^1.2.*",
        "*,<2",
        "**",
        "1.2.3-1",
        "^1.2.3-1",
        ">=1.2.3-1",
        "2026-01-31",
        "1.2\n,<2;",
        "\u0661.2",
        "1.\u0662",
        "\uff11.2",
        "9" * 62,
        "^" + "9" * 5000,
        "owner/repo",
        "./skill",
        "^1..2",
        "1.2.x",
        ">=1.2-SNAPSHOT",
        "~=1",
        "1.2-canary.1",
        "==1.2.",
        ">=1.0+local",
    ],
)
def test_an_invalid_range_is_rejected(text: str) -> None:
    assert not is_range(text)
    with pytest.raises(UsageError) as caught:
        matches(text, "1.2.0")
    shown = text.replace("\n", "\\n")
    assert caught.value.message == f"invalid version range `{shown if len(text) <= 80 else shown[:79] + '…'}`"
    assert caught.value.hint == HINT


RANGE_PIECES = st.sampled_from(
    [
        *("^", "~", "~=", ">=", "<", ">", "==", "===", "!=", ",", "*", ".*", " ", "0", "1", "12", ".", "1.2", "v", "!"),
        *("a1", "b", "rc.2", "-beta.1", ".post1", "-1", "dev", "+x", "-SNAPSHOT", ".x", "_"),
    ]
)


@settings(max_examples=1500)
@given(st.lists(RANGE_PIECES, min_size=1, max_size=7).map("".join))
def test_every_syntactically_valid_range_can_be_evaluated(text: str) -> None:
    """So that an error is reported where the range is written, not when a version is resolved."""
    if is_range(text):
        matches(text, "1.2.0")
    else:
        with pytest.raises(UsageError):
            matches(text, "1.2.0")


@pytest.mark.parametrize(
    ("wanted", "versions", "found"),
    [
        ("*", "1.0 2.0b1", "1.0"),
        ("*", "2.0a1 2.0b1", "2.0a1 2.0b1"),
        ("*", "main", "main"),
        ("*", "", ""),
        ("^1", "1.0b1 0.9", ""),
        ("^1.0b1", "1.0b1 1.0", "1.0b1 1.0"),
    ],
)
def test_pre_releases_match_if_the_range_names_one_or_nothing_else_exists(
    wanted: str, versions: str, found: str
) -> None:
    assert filter_versions(wanted, versions.split()) == found.split()


@pytest.mark.parametrize(
    "text",
    [
        *("0", "1", "999", "1.2", "v1.2.3", "1.2.3.4", "2026.1.31", "1.0.0-beta.1", "1.0rc1", "1.0.post1", "1.0.dev3"),
        *("1.2.3-1", "1!1.0", "1.0+a.1"),
    ],
)
def test_pep_440_versions_are_valid(text: str) -> None:
    assert is_version(text)


@pytest.mark.parametrize(
    "text",
    [
        *("1000", "2026", "v2026", "20260131", "2026-01", "2026-01-31", "2026rc1", "2026-01-31T12:00", "1" * 5000),
        *("", "v", "main", "1.0-SNAPSHOT", "1.0-canary.1", "1.x", "1.0 final 2", "\u0661.0", "1.\u0662"),
    ],
)
def test_dates_and_words_are_not_versions(text: str) -> None:
    assert not is_version(text)
    assert not matches(">=0", text)


NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=4)
EARLY = st.sampled_from(["", "", "a1", "b2", "rc1", ".dev1"])


@settings(max_examples=200)
@given(mark=st.sampled_from("^~"), low=NUMBERS, low_early=EARLY, other=NUMBERS, early=EARLY)
def test_caret_and_tilde_allow_up_to_the_next_breaking_version(
    mark: str, low: list[int], low_early: str, other: list[int], early: str
) -> None:
    """The rule as a property: not below, and equal up to the number that may not change."""
    written, version = ".".join(map(str, low)) + low_early, ".".join(map(str, other)) + early
    fixed = next((n for n, number in enumerate(low) if number), len(low) - 1) + 1 if mark == "^" else min(2, len(low))
    same_line = (other + [0] * 4)[:fixed] == low[:fixed]
    allowed = not early or bool(low_early)

    assert matches(mark + written, version) == (Version(version) >= Version(written) and same_line and allowed)


@pytest.mark.parametrize(("wanted", "inside", "outside"), RANGES)
def test_the_fast_path_never_contains_more_than_the_range(wanted: str, inside: str, outside: str) -> None:
    plain = {version for version in inside.split() if version.replace(".", "").isdecimal()}
    is_plain = set(wanted) <= set("0123456789.,^~<>= *") and "~=" not in wanted and "===" not in wanted
    is_plain = is_plain and ".*" not in wanted

    assert [version for version in outside.split() if wanted.strip() != "*" and quick_contains(wanted, version)] == []
    assert {version for version in plain if quick_contains(wanted, version)} == (plain if is_plain else set())


PLAIN = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(lambda numbers: ".".join(map(str, numbers)))
CLAUSES = st.tuples(st.sampled_from(["^", "~", ">=", ">", "<=", "<", "==", "", "~=", "!=", "==="]), PLAIN).map("".join)


@example("~1.2", "1.3")
@example("^0.1", "0.2")
@example("~1", "1.9")
@example("^0.0.3", "0.0.4")
@settings(max_examples=500)
@given(st.lists(CLAUSES, min_size=1, max_size=3).map(",".join), PLAIN)
def test_the_fast_path_agrees_with_the_range(wanted: str, version: str) -> None:
    if is_range(wanted) and not is_date(version):
        closely = not set(wanted) & {"!"} and "~=" not in wanted and "===" not in wanted
        assert quick_contains(wanted, version) is (matches(wanted, version) if closely else False)


def is_date(version: str) -> bool:
    return "." not in version


@pytest.mark.parametrize("version", ["", "main", "1.0b1", "v1.0", "1.0+x", "1!1.0", "\u0661.0"])
def test_the_fast_path_handles_plain_numbers_only(version: str) -> None:
    assert not quick_contains(">=0", version)
    assert quick_contains(" * ", version)
