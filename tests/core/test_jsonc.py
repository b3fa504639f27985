"""JSON with comments and trailing commas."""

import pytest

from skillpm.core.json_text.decoder import parse_jsonc
from skillpm.errors import DocumentError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // one\n /* two\n */ "b": [2, 3,], }', {"a": 1, "b": [2, 3]}),
        ('{"a": "// no", "b": "/* no */", "c": "x,}"}', {"a": "// no", "b": "/* no */", "c": "x,}"}),
        ('{"a": "\\"//"}', {"a": '"//'}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a": [1, // "]\n ]}', {"a": [1]}),
        ('{"a": 1, /* , */ // ,\n }', {"a": 1}),
        ("// https://x/*\n[]", []),
    ],
)  # fmt: skip
def test_comments_and_trailing_commas_are_no_content(text: str, value: object) -> None:
    assert parse_jsonc(text, "f").value == value


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("// a\n/* b\n */ {\n  x\n}", "f:4:3"),
        ('{\n  "a": "// b\n}', "f:2:13"),
        ("[1,,]", "f:1:5"),
        ("[1, /* 2]", "f:1:10"),
        ("", "f:1:1"),
    ],
)
def test_an_error_names_line_and_column_of_the_file(text: str, where: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_jsonc(text, "f")

    assert caught.value.where == where


@pytest.mark.parametrize(
    "text", ["/*" * 100_000, "//" * 100_000, '"\\' * 100_000, "[" + ", " * 100_000, "[1," + "//\n" * 100_000]
)
def test_hostile_text_is_refused_at_once(text: str) -> None:
    with pytest.raises(DocumentError):
        parse_jsonc(text, "f")
