"""Invisible characters that a model reads."""

import pytest

from skillpm.skillmd.validation import find_hidden_characters


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain\ttext\n", []),
        ("zero\u200bwidth", [(1, "\\u200b")]),
        ("one\ntwo\u202e\u200b\nthree\n\u2066four", [(2, "\\u202e"), (4, "\\u2066")]),
        ("tag\U000e0041", [(1, "\\U000e0041")]),
        ("a joiner between letters of ASCII: a\u200db", [(1, "\\u200d")]),
        ("a joiner at the end\u200d", [(1, "\\u200d")]),
        ("between two letters that need one: \u0645\u200c\u062e", []),
        ("after a letter that needs one: \u0645\u200c1", []),
        ("two joiners after a letter that needs one: \u0645\u200c\u200cx", [(1, "\\u200c")]),
        ("a heart and a keycap: \u2764\ufe0f 1\ufe0f\u20e3", []),
        ("bits in digits: 1\ufe0f0\ufe0e", [(1, "\\ufe0f")]),
        ("a variant of an ideograph: \u845b\U000e0100", []),
        ("a blank letter\u3164", [(1, "\\u3164")]),
        ("Braille art: \u2800\u2801\u2800", []),
        ("blanks of Braille: \u2800", [(1, "\\u2800")]),
        ("old Hangul: \u115f\u1161 \u1100\u1160", []),
        ("in a picture: \U0001f469\u200d\U0001f4bb", []),
    ],
)
def test_hidden_characters_are_found_by_line(text: str, found: list[tuple[int, str]]) -> None:
    assert [(finding.code, finding.line, finding.message) for finding in find_hidden_characters(text)] == [
        ("hidden-text", line, f"hidden character {shown} in this line") for line, shown in found
    ]
