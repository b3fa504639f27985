"""`exclude-newer`: ages, dates and timestamps."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpm.core.exclude_newer import NO_CUTOFF, parse_cutoff
from skillpm.errors import UsageError

NOW = 1_767_225_600.0  # the first moment of 2026


@pytest.mark.parametrize(
    ("text", "moment", "expected"),
    [
        ("7 days", "2025-12-25T00:00:00Z", "younger than 7 days"),
        ("7d", "2025-12-25T00:00:00Z", "younger than 7d"),
        ("1 day", "2025-12-31T00:00:00Z", "younger than 1 day"),
        ("2 weeks", "2025-12-18T00:00:00Z", "younger than 2 weeks"),
        ("12h", "2025-12-31T12:00:00Z", "younger than 12h"),
        (" 36 Hours ", "2025-12-30T12:00:00Z", "younger than 36 Hours"),
        ("2025-11-30", "2025-11-30T23:59:59Z", "newer than 2025-11-30"),
        ("2025-11-30T12:00:00Z", "2025-11-30T12:00:00Z", "newer than 2025-11-30T12:00:00Z"),
        ("2025-11-30T12:00:00+02:00", "2025-11-30T10:00:00Z", "newer than 2025-11-30T12:00:00+02:00"),
        ("2025-11-30 12:00:00+00:00", "2025-11-30T12:00:00Z", "newer than 2025-11-30 12:00:00+00:00"),
        ("0900-01-01", "0900-01-01T23:59:59Z", "newer than 0900-01-01"),
        ("9999 weeks", "1970-01-01T00:00:00Z", "younger than 9999 weeks"),
    ],
)
def test_parses_ages_dates_and_timestamps(text: str, moment: str, expected: str) -> None:
    cutoff = parse_cutoff(text, NOW)

    assert (cutoff.moment, cutoff.description) == (moment, expected)
    assert not cutoff.excludes(moment)
    assert cutoff.excludes("2026-06-01T00:00:00Z")


@pytest.mark.parametrize("text", ["0 days", "0h", "0d", "00 weeks"])
def test_zero_and_empty_exclude_nothing(text: str) -> None:
    assert parse_cutoff(text, NOW) == NO_CUTOFF
    assert not NO_CUTOFF.excludes("9999-01-01T00:00:00Z")


def test_an_unknown_publication_time_is_never_too_new() -> None:
    assert not parse_cutoff("2000-01-01", NOW).excludes("")


@pytest.mark.parametrize(
    "text",
    ["", "soon", "7", "7 months", "-7 days", "2026-13-01", "2026-01-01T12:00:00", "12345 days", "1.5 days",
     "\u0667 days", "0001-01-01T00:00:00+23:00", "9999-12-31T23:00:00-23:00", "7 days\x1b[2J"],
)  # fmt: skip
def test_anything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_cutoff(text, NOW, where="--exclude-newer")

    assert caught.value.message.endswith("` is not an age, a date or a timestamp")
    assert "\x1b" not in caught.value.message
    assert (caught.value.where, "`7 days`" in caught.value.hint) == ("--exclude-newer", True)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    with suppress(UsageError):
        assert len(parse_cutoff(text, NOW).moment) in {0, 20}
