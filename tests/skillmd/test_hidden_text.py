"""Invisible characters that a model reads."""

import pytest

from skillpm.skillmd.hidden_text import find_hidden_characters


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
        ("before a letter that needs one: a\u200d\u00e9", []),
        ("in a picture: \U0001f469\u200d\U0001f4bb", []),
    ],
)
def test_hidden_characters_are_found_by_line(text: str, found: list[tuple[int, str]]) -> None:
    assert [(finding.code, finding.line, finding.message) for finding in find_hidden_characters(text)] == [
        ("hidden-text", line, f"hidden character {shown} in this line") for line, shown in found
    ]
