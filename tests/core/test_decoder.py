"""Strict parsing of documents: every error names the file and the key or line."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.json_text.decoder import JsonNode, dump_json, parse_json, parse_toml
from skillpm.errors import DocumentError, NewerDocument

FIX = "fix the file by hand, or restore it from version control"
QUOTED = '{} need "double quotes"'
UPGRADE = "upgrade skillpm: pip install --upgrade agent-skillpm"


def fault(read: Callable[[], object]) -> tuple[str, str, str]:
    with pytest.raises(DocumentError) as caught:
        read()
    return caught.value.message, caught.value.where, caught.value.hint


def node(value: Any) -> JsonNode:
    return JsonNode(value, "skills.json")


# Text


@pytest.mark.parametrize(
    ("text", "message", "where", "mistake"),
    [
        ("", "Expecting value", "f.json:1:1", "the file is empty"),
        ("nonsense", "Expecting value", "f.json:1:1", ""),
        ("{", "Expecting property name enclosed in double quotes", "f.json:1:2", ""),
        ('{"a": 1', "Expecting ',' delimiter", "f.json:1:8", "a closing } or ] is missing at the end"),
        ('{"a": 1}\n}', "Extra data", "f.json:2:1", ""),
        (
            '{\n  "a": 1\n  "b": 2\n}',
            "Expecting ',' delimiter",
            "f.json:3:3",
            "a comma is missing at the end of line 2",
        ),
        ('["a"\n\n "b"]', "Expecting ',' delimiter", "f.json:3:2", "a comma is missing at the end of line 1"),
        ('{\n  "a": tru\n}', "Expecting value", "f.json:2:8", ""),
        ('{"a": True}', "Expecting value", "f.json:1:7", "write `true` in JSON"),
        ("{'a': 1}", "Expecting property name enclosed in double quotes", "f.json:1:2", QUOTED.format("strings")),
        ("{a: 1}", "Expecting property name enclosed in double quotes", "f.json:1:2", QUOTED.format("keys")),
        ('{"a": 1} // one', "Extra data", "f.json:1:10", "JSON has no comments"),
        ('{"a": "b\nc"}', "Invalid control character at", "f.json:1:9", 'a closing " is missing in line 1'),
        ('{"ä": 01}', "Expecting ',' delimiter", "f.json:1:8", ""),
        ('{"a": "\\x"}', "Invalid \\escape", "f.json:1:8", ""),
    ],
)
def test_invalid_json_is_reported_with_line_and_column(text: str, message: str, where: str, mistake: str) -> None:
    hint = f"{mistake}; {FIX}" if mistake else FIX
    assert fault(lambda: parse_json(text, "f.json")) == (f"invalid JSON: {message}", where, hint)


@pytest.mark.parametrize("text", ['{\n  "a": 1,\n}', '{"b": [\n1,\n\n]}'])
def test_a_trailing_comma_is_recognized(text: str) -> None:
    assert fault(lambda: parse_json(text, "f.json"))[2] == f"remove the trailing comma in line 2; {FIX}"


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ('{"a": 1, "a": 1}', "duplicate key `a`", ":1:10"),
        ('[{"b": {"c": 1, "d": 2,\n "c": 3}}]', "duplicate key `c`", ":2:2"),
        ('{"a": {"c": 1}, "b": {"c": 2, "c": 3}}', "duplicate key `c`", ""),
        ('{"\\u001b[31m": 1, "\\u001b[31m": 2}', "duplicate key `\\x1b[31m`", ":1:19"),
        ('{"a": NaN}', "`NaN` is not valid JSON", ":1:7"),
        ("[-Infinity]", "`-Infinity` is not valid JSON", ":1:2"),
        ("9" * 5000, "a number is too long", ""),
        ('{"a": "\\ud83c"}', "a string contains half a character (a lone surrogate)", ""),
        ('{"\\uDF89": 1}', "a string contains half a character (a lone surrogate)", ""),
        ("[" * 100_000, "this JSON is nested too deeply", ""),
        ('{"a":' * 100_000, "this JSON is nested too deeply", ""),
    ],
)
def test_duplicate_keys_and_constants_are_rejected(text: str, message: str, where: str) -> None:
    assert fault(lambda: parse_json(text, "f.json")) == (message, f"f.json{where}", "")


SIDES = '{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> theirs\n}\n'
JOIN = "keep one side, or combine both, and delete the lines with <<<<<<<, ======= and >>>>>>>"
RELOCK = (
    "`skillpm lock` merges both sides, except in CI;"
    " or take one: `git checkout --ours skills.lock`, then `skillpm lock`"
)


def test_an_unresolved_merge_conflict_is_recognized() -> None:
    message = "unresolved merge conflict"

    assert fault(lambda: parse_json(SIDES, "skills.json")) == (message, "skills.json:2", JOIN)
    assert fault(lambda: parse_json(SIDES, "/w/skills.lock")) == (message, "/w/skills.lock:2", RELOCK)
    assert fault(lambda: parse_toml("a = 1\n>>>>>>> theirs\n", "config.toml")) == (message, "config.toml:2", JOIN)
    assert fault(lambda: parse_json('{"a": "<<<<<<< HEAD"', "f.json"))[0] == "invalid JSON: Expecting ',' delimiter"


def test_surrogate_pairs_are_accepted() -> None:
    assert parse_json('"\\ud83c\\udf89"', "f.json").value == "🎉"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(JSON)
def test_written_documents_round_trip(value: Any) -> None:
    text = dump_json(value)

    assert parse_json(text, "f.json").value == value
    assert dump_json(parse_json(text, "f.json").value) == text


def test_documents_have_two_spaces_no_escapes_and_a_final_newline() -> None:
    assert dump_json({"z": ["ä", "\u2028"], "a": {}}) == '{\n  "z": [\n    "ä",\n    "\u2028"\n  ],\n  "a": {}\n}\n'


@settings(max_examples=200)
@given(st.text('{}[]",:\\u0123dDe \n-.tfn', max_size=40) | st.text(max_size=40))
def test_any_text_is_parsed_or_rejected_without_a_crash(text: str) -> None:
    with suppress(DocumentError):
        dump_json(parse_json(text, "f.json").value).encode()


# Values and their addresses


DEEP = {"skills": {"pdf": {"git": 3, "list": [1, {"x": None}]}}}
GOT: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "true"),
    (3, "3"),
    (1.5, "1.5"),
    ("tä\u202ext", r'"tä\u202ext"'),
    ([], "an array"),
    ({}, "an object"),
]


@pytest.mark.parametrize(
    ("read", "expected", "kinds"),
    [
        (JsonNode.text, "a string", (str,)),
        (JsonNode.flag, "true or false", (bool,)),
        (JsonNode.number, "a whole number", (int,)),
        (JsonNode.items, "an object", (dict,)),
        (JsonNode.elements, "an array", (list,)),
        (JsonNode.texts, "an array", (list,)),
        (lambda node: node.get("x"), "an object", (dict,)),
    ],
    ids=["text", "flag", "number", "items", "elements", "texts", "get"],
)
@pytest.mark.parametrize(("value", "got"), GOT, ids=[got for _, got in GOT])
def test_a_wrong_type_is_reported_with_its_location(
    read: Callable[[JsonNode], object], expected: str, kinds: tuple[type, ...], value: Any, got: str
) -> None:
    place = JsonNode(value, "skills.json", ("skills", "pdf"))
    if type(value) in kinds:
        read(place)
    else:
        assert fault(lambda: read(place)) == (f"expected {expected}, got {got}", "skills.json: skills.pdf", "")


@pytest.mark.parametrize(
    ("read", "message", "where"),
    [
        (lambda top: top.text(), "expected a string, got an object", "skills.json"),
        (
            lambda top: top.require("skills").require("pdf").require("git").text(),
            "expected a string, got 3",
            "skills.json: skills.pdf.git",
        ),
        (
            lambda top: list(top.require("skills").require("pdf").require("list").elements())[1].require("x").text(),
            "expected a string, got null",
            "skills.json: skills.pdf.list.1.x",
        ),
        (lambda top: top.require("skills").require("tdd"), "`tdd` is missing", "skills.json: skills"),
        (lambda top: top.require("lock"), "`lock` is missing", "skills.json"),
        (
            lambda top: top.require("skills").text_or("pdf"),
            "expected a string, got an object",
            "skills.json: skills.pdf",
        ),
        (
            lambda top: top.require("skills").check_keys("deploy", "review"),
            "unknown key `pdf`; known keys: deploy, review",
            "skills.json: skills.pdf",
        ),
    ],
)
def test_an_error_names_its_file_and_key_path(read: Callable[[JsonNode], object], message: str, where: str) -> None:
    assert fault(lambda: read(node(DEEP))) == (message, where, "")


def test_a_location_is_printed_safely() -> None:
    top = node({"\x1b[31m": {"b\n": 1}})

    assert fault(lambda: top.require("\x1b[31m").require("b\n").text()) == (
        "expected a string, got 1",
        r"skills.json: \x1b[31m.b\n",
        "",
    )
    assert fault(node("\u202e" * 100).number)[0] == 'expected a whole number, got "' + r"\u202e" * 9 + "\\u20…"


def test_existing_members_are_returned() -> None:
    top = node({"a": "x", "b": [1, "y"], "c": True, "d": 7})

    assert (top.require("a").text(), top.text_or("a"), top.text_or("e")) == ("x", "x", "")
    assert top.get("e") is None
    assert (top.require("c").flag(), top.require("d").number()) == (True, 7)
    assert [(key, member.where) for key, member in top.items()] == [(key, f"skills.json: {key}") for key in "abcd"]
    assert fault(top.require("b").texts) == ("expected a string, got 1", "skills.json: b.0", "")
    top.check_keys("a", "b", "c", "d", "e")


# The number of the format


def test_the_format_number_is_returned() -> None:
    assert [node({"version": found}).check_format(3) for found in (1, 2, 3)] == [1, 2, 3]


def test_a_newer_document_is_rejected_with_a_hint_to_upgrade() -> None:
    with pytest.raises(NewerDocument) as caught:
        node({"version": 4}).check_format(3)
    assert (caught.value.message, caught.value.where, caught.value.hint, caught.value.code) == (
        "unsupported format 4; this version of skillpm reads up to 3",
        "skills.json",
        UPGRADE,
        "newer-format",
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1", 'expected a whole number, got "1"'),
        (1.0, "expected a whole number, got 1.0"),
        (True, "expected a whole number, got true"),
        (0, "expected a format number, 1 to 3, got 0"),
        (-1, "expected a format number, 1 to 3, got -1"),
    ],
)
def test_anything_else_is_not_a_format_number(value: Any, message: str) -> None:
    read = node({"version": value})

    assert fault(lambda: read.check_format(3)) == (message, "skills.json: version", "")
