"""Edits of hand-written JSON: whatever its style, all other members keep their bytes."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.formats.editing.json_edit import insert_element, remove_member, set_member, set_members

PRETTY = """\
{
    "$schema": "urn:skillpm:schema:manifest:1",
    "skills": {
        "code-review": "^1.2",   "tdd":"*"
    },
    "agents":[ "claude-code" ]
}
"""


# Examples


def test_a_new_member_is_inserted_in_order_with_the_style_of_its_neighbor() -> None:
    assert set_member(PRETTY, ("skills", "pdf"), {"git": "https://x/ü"}) == PRETTY.replace(
        '"tdd"', '"pdf": {"git": "https://x/ü"},   "tdd"'
    )
    assert set_member(PRETTY, ("skills", "api"), "1") == PRETTY.replace(
        '        "code-review"', '        "api": "1",\n        "code-review"'
    )
    assert set_member(PRETTY, ("skills", "zip"), "1") == PRETTY.replace('"tdd":"*"', '"tdd":"*",   "zip": "1"')


def test_a_new_member_is_appended_if_the_others_are_unsorted() -> None:
    assert set_member('{"b": 1, "c": 2, "a": 3}', ("aa",), 4) == '{"b": 1, "c": 2, "a": 3, "aa": 4}'


def test_an_element_is_inserted_before_its_number_with_the_same_style() -> None:
    rows = '{\n  "x": [\n    {"a": 1},\n    {"b": 2}\n  ]\n}\n'

    first, last = insert_element(rows, "x", 0, {"c": 3}), insert_element(rows, "x", 2, {"c": 3})

    assert first == '{\n  "x": [\n    {"c": 3},\n    {"a": 1},\n    {"b": 2}\n  ]\n}\n'
    assert last == '{\n  "x": [\n    {"a": 1},\n    {"b": 2},\n    {"c": 3}\n  ]\n}\n'
    assert insert_element('{"x":[ 1,2 ]}', "x", 1, 3) == '{"x":[ 1,3, 2 ]}'
    assert insert_element('{"x": [1]}', "x", 1, 3) == '{"x": [1, 3]}'


def test_an_array_that_is_empty_or_missing_gets_its_first_element() -> None:
    assert insert_element('{"x": [ ]}', "x", 0, 3) == '{"x": [3]}'
    assert insert_element('{\n  "skills": {}\n}', "x", 0, 3) == '{\n  "skills": {},\n  "x": [3]\n}'


def test_several_members_are_set_in_one_pass() -> None:
    values = {"zip": "1", "tdd": "^2", "api": "1", "pdf": "1"}

    assert set_members(PRETTY, ("skills",), values) == PRETTY.replace(
        '        "code-review": "^1.2",   "tdd":"*"',
        '        "api": "1",\n        "code-review": "^1.2",   "pdf": "1",   "tdd":"^2",   "zip": "1"',
    )
    assert set_members('{"b": 1, "a": 2}', (), {"d": 3, "c": 4}) == '{"b": 1, "a": 2, "d": 3, "c": 4}'
    assert set_members("{}", ("skills",), {"b": 1, "a": 2}) == '{\n  "skills": {"a": 2, "b": 1}\n}'
    assert set_members('{\n  "skills": {}\n}', ("skills",), {"b": 1, "a": 2}) == (
        '{\n  "skills": {\n    "a": 2,\n    "b": 1\n  }\n}'
    )


def test_letters_are_not_escaped() -> None:
    assert set_member('{"a":1}', ("ü",), "ß") == '{"a":1, "ü": "ß"}'


def test_an_existing_member_is_updated_in_place() -> None:
    assert set_member(PRETTY, ("skills", "tdd"), "^2") == PRETTY.replace('"tdd":"*"', '"tdd":"^2"')
    assert set_member(PRETTY, ("agents",), []) == PRETTY.replace('[ "claude-code" ]', "[]")


def test_missing_objects_are_created() -> None:
    assert set_member('{\n\t"a": 1\n}\n', ("skills", "pdf"), "*") == '{\n\t"a": 1,\n\t"skills": {"pdf": "*"}\n}\n'
    assert set_member("{}", ("a", "b", "c"), 1) == '{\n  "a": {"b": {"c": 1}}\n}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "skills": {}\n}\n', '{\n  "skills": {\n    "pdf": "*"\n  }\n}\n'),
        ('{\n\t"skills": {\n\n\t}\n}\n', '{\n\t"skills": {\n\t\t"pdf": "*"\n\t}\n}\n'),
        ('{\n    "skills": { }\n}\n', '{\n    "skills": {\n        "pdf": "*"\n    }\n}\n'),
        ('{"skills":{}}', '{"skills":{\n  "pdf": "*"\n}}'),
        ('{\r\n  "skills": {}\r\n}\r\n', '{\r\n  "skills": {\r\n    "pdf": "*"\r\n  }\r\n}\r\n'),
        ('{"a": "\u2028 \u00a0", "skills": {}}', '{"a": "\u2028 \u00a0", "skills": {\n  "pdf": "*"\n}}'),
    ],
    ids=["two blanks", "tabs", "four blanks", "one line", "CRLF", "odd characters in a string"],
)
def test_the_first_member_of_an_object_is_indented_as_the_rest_of_the_text(before: str, after: str) -> None:
    assert set_member(before, ("skills", "pdf"), "*") == after
    assert json.loads(after)["skills"] == {"pdf": "*"}


@pytest.mark.parametrize(
    ("keys", "after"),
    [
        (("skills", "code-review"), PRETTY.replace('"code-review": "^1.2",   ', "")),
        (("skills", "tdd"), PRETTY.replace(',   "tdd":"*"', "")),
        (("$schema",), PRETTY.replace('    "$schema": "urn:skillpm:schema:manifest:1",\n', "")),
        (("agents",), PRETTY.replace(',\n    "agents":[ "claude-code" ]', "")),
        (("skills", "nowhere"), PRETTY),
        (("nowhere", "tdd"), PRETTY),
    ],
)
def test_removing_a_member_removes_one_comma(keys: tuple[str, ...], after: str) -> None:
    assert remove_member(PRETTY, keys) == after


def test_removing_the_only_member_leaves_an_empty_object() -> None:
    assert remove_member('{ "a": {\n  "b": 1\n} }', ("a", "b")) == '{ "a": {} }'


def test_a_key_is_found_with_any_escapes() -> None:
    assert set_member('{"p\\u0064f": 1}', ("pdf",), 2) == '{"p\\u0064f": 2}'
    assert remove_member('{"a": 0, "p\\u0064f": 1}', ("pdf",)) == '{"a": 0}'


def test_brackets_and_commas_in_strings_are_text() -> None:
    text = '{"a": "},{\\"b\\":", "b": ["}", {"c": "]"}]}'

    assert set_member(text, ("b",), 1) == '{"a": "},{\\"b\\":", "b": 1}'
    assert remove_member(text, ("a",)) == '{"b": ["}", {"c": "]"}]}'


# Any text


KEYS = st.sampled_from(["skills", "agents", "pdf", "tdd", "a", 'q"\\', "ü", "\u2028"]) | st.text(max_size=3)
SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=4) | st.just("},{ \u00a0")
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=5
)
OBJECTS = st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, max_size=4), max_size=5)
BLANKS = st.sampled_from(["", "", " ", "\n", "\n  ", "\n\t", "\r\n    ", "  \n\n "])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """Generate a value in any style: all kinds of white space, characters escaped or not."""

    def blank() -> str:
        return draw(BLANKS)

    def spelt(part: Any) -> str:
        if isinstance(part, dict):
            rows = [f"{blank()}{spelt(key)}{blank()}:{blank()}{spelt(item)}{blank()}" for key, item in part.items()]
            return "{" + (",".join(rows) or blank()) + "}"
        if isinstance(part, list):
            return "[" + (",".join(f"{blank()}{spelt(item)}{blank()}" for item in part) or blank()) + "]"
        return json.dumps(part, ensure_ascii=draw(st.booleans()))

    return f"{blank()}{spelt(value)}{blank()}"


TEXTS = OBJECTS.flatmap(lambda value: st.tuples(st.just(value), written(value)))
EXAMPLES = settings(max_examples=60)


def spans(text: str) -> dict[str, str]:
    """Return the members of the top-level object: the exact text of the value by key."""
    decoder = json.JSONDecoder()
    found: dict[str, str] = {}
    at = text.index("{") + 1
    while True:
        at = len(text) - len(text[at:].lstrip(" \t\r\n,"))
        if text[at] == "}":
            return found
        start = at
        key, at = decoder.raw_decode(text, at)
        at = text.index(":", at) + 1
        at = len(text) - len(text[at:].lstrip(" \t\r\n"))
        value, end = decoder.raw_decode(text, at)
        assert json.loads(text[at:end]) == value
        found[key] = text[start:end]
        at = end


@EXAMPLES
@given(TEXTS, KEYS, VALUES)
def test_a_set_member_is_read_and_all_others_keep_their_bytes(
    pair: tuple[dict[str, Any], str], key: str, new: Any
) -> None:
    value, text = pair
    edited = set_member(text, (key,), new)

    assert json.loads(edited) == value | {key: new}
    before, after = spans(text), spans(edited)
    assert {name: part for name, part in after.items() if name != key} == {
        name: part for name, part in before.items() if name != key
    }
    assert [name for name in after if name in before] == list(before)
    assert set_member(edited, (key,), new) == edited


@EXAMPLES
@given(TEXTS, st.dictionaries(KEYS, VALUES, max_size=4))
def test_setting_several_members_is_setting_one_by_one(
    pair: tuple[dict[str, Any], str], values: dict[str, Any]
) -> None:
    expected = text = pair[1]
    for key, value in values.items():
        expected = set_member(expected, (key,), value)

    assert set_members(text, (), values) == expected


@EXAMPLES
@given(TEXTS, KEYS, KEYS, VALUES)
def test_a_set_nested_member_is_read(pair: tuple[dict[str, Any], str], outer: str, key: str, new: Any) -> None:
    value, text = pair
    there = value.get(outer, {})
    if isinstance(there, dict):
        assert json.loads(set_member(text, (outer, key), new)) == value | {outer: there | {key: new}}


@EXAMPLES
@given(TEXTS, KEYS, KEYS, VALUES)
def test_removing_a_set_member_restores_the_json(
    pair: tuple[dict[str, Any], str], outer: str, key: str, new: Any
) -> None:
    value, text = pair
    if key not in value:
        assert json.loads(remove_member(set_member(text, (key,), new), (key,))) == value
    inner = value.get(outer)
    if isinstance(inner, dict) and key not in inner:
        assert json.loads(remove_member(set_member(text, (outer, key), new), (outer, key))) == value


@EXAMPLES
@given(TEXTS, st.data())
def test_a_removed_member_is_gone_and_all_others_keep_their_bytes(
    pair: tuple[dict[str, Any], str], data: st.DataObject
) -> None:
    value, text = pair
    key = data.draw(st.sampled_from([*value, "absent"]))
    edited = remove_member(text, (key,))

    before = spans(text)
    before.pop(key, None)
    assert spans(edited) == before
    assert json.loads(edited) == {name: part for name, part in value.items() if name != key}


@EXAMPLES
@given(OBJECTS, KEYS)
def test_members_in_order_stay_in_order(value: dict[str, Any], key: str) -> None:
    edited = set_member(json.dumps(dict(sorted(value.items()))), (key,), 1)

    assert list(json.loads(edited)) == sorted({*value, key})


@EXAMPLES
@given(TEXTS, KEYS, st.integers(min_value=0, max_value=4), VALUES)
def test_an_inserted_element_is_read_at_its_position(
    pair: tuple[dict[str, Any], str], key: str, number: int, new: Any
) -> None:
    value, text = pair
    there = value.get(key, [])
    if isinstance(there, list):
        assert json.loads(insert_element(text, key, number, new)) == value | {
            key: [*there[:number], new, *there[number:]]
        }
