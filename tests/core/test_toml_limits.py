"""Limits of TOML documents, checked before they are parsed: tomllib takes the square of a long key's parts."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as some
from kit.growth import growth_of_calls, growth_of_time

from skillpm.core.json_text.decoder import find_toml_problem, parse_toml
from skillpm.core.limits import MAX_TOML_DOTS, MAX_TOML_KEY_PARTS, MAX_TOML_SIZE
from skillpm.errors import DocumentError

DEEP = ".".join("k" * (MAX_TOML_KEY_PARTS + 1))
TOO_DEEP = f"the key `{DEEP}` has more than 20 parts"
# What may stand before a long key, and hide it from a reader that does not know where a string ends.
BEFORE = some.lists(
    some.sampled_from(
        ["'", '"', "'''", '"""', "\\", '\\"', "#", "\n", "x = ", "y = ", ".", " ", "a", "[", "]", "{", "}", ",", "="]
    ),
    max_size=14,
).map("".join)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{DEEP} = 1", TOO_DEEP),
        (f"[{DEEP}]", TOO_DEEP),
        (f"[[ {DEEP} ]]", TOO_DEEP),
        (f"x = {{{DEEP} = 1}}", TOO_DEEP),
        (f"x = [1, {{a = 1, {DEEP} = 1}}]", TOO_DEEP),
        (DEEP.replace(".", " . ") + " = 1", f"the key `{DEEP.replace('.', ' . ')[:59]}…` has more than 20 parts"),
        (DEEP.replace("k", '"k.k"') + " = 1", f"the key `{DEEP.replace('k', '_')}` has more than 20 parts"),
        (DEEP.replace("k", "'k'") + " = 1", f"the key `{DEEP.replace('k', '_')}` has more than 20 parts"),
        (f"x = 'a'\n{DEEP} = 1 # '", TOO_DEEP),
        (f'x = """a""""\ny = 1\n{DEEP} = 1 # "', TOO_DEEP),
        ("".join(f"a.b{n} = 1\n" for n in range(MAX_TOML_DOTS + 1)), "5,001 dots in keys; at most 5,000 are allowed"),
        ("#" * (MAX_TOML_SIZE + 1), "400,001 bytes of TOML; at most 400,000 are allowed"),
        ("# " + "é" * (MAX_TOML_SIZE // 2), "400,002 bytes of TOML; at most 400,000 are allowed"),
    ],
)
def test_a_document_beyond_a_limit_is_an_error_of_its_file(text: str, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_toml(text, "policy.toml")

    assert (caught.value.message, caught.value.where) == (problem, "policy.toml")


@pytest.mark.parametrize(
    "text",
    [
        f"x = '{DEEP}'",
        f'x = "{DEEP} = 1"',
        f"x = '''\n{DEEP} = 1\n'''",
        f'x = """\n\\"""{DEEP} = 1\n"""',
        f"# {DEEP} = 1",
        f'"{DEEP}" = 1',
        f"{'.'.join('k' * MAX_TOML_KEY_PARTS)} = 1",
        f"x = '{'.' * (MAX_TOML_DOTS + 1)}'",
        "#" * MAX_TOML_SIZE,
    ],
)
def test_dots_in_strings_and_comments_do_not_count(text: str) -> None:
    assert find_toml_problem(text) == ""
    tomllib.loads(text)


@given(BEFORE, some.booleans())
def test_no_string_hides_a_long_key(before: str, is_header: bool) -> None:  # noqa: FBT001  (hypothesis passes it)
    text = f"{before}\n[{DEEP}]\n" if is_header else f"{before}{DEEP} = 1\n"
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return

    assert find_toml_problem(text) or not _has_depth(document, MAX_TOML_KEY_PARTS + 1)


def _has_depth(value: object, depth: int) -> bool:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth == 0 or any(_has_depth(each, depth - isinstance(value, dict)) for each in values)


@pytest.mark.parametrize("part", ['"', "'", '"""', "'''", '\\"', "a", "a.", "a . ", "#", "[", "\n", '""', "' "])
def test_the_search_takes_linear_time(part: str) -> None:
    """The whole text, also if no string in it ends."""
    assert growth_of_time(lambda size: find_toml_problem(part * (size // len(part)), size), 80_000) < 8


@pytest.mark.parametrize(
    "line", ["k{} = 1\n", "[t{}]\n", "[[t]]\nk{} = 1\n", "a.b{} = 1\n", "k{} = []\n", "k{} = {{}}\n"]
)
def test_twice_the_document_takes_twice_the_calls(line: str) -> None:
    header = f"[{'.'.join('h' * MAX_TOML_KEY_PARTS)}]\n"

    def parse(number: int) -> None:
        parse_toml(header + "".join(line.format(each) for each in range(number)), "policy.toml")

    assert growth_of_calls(parse, 100) < 2.3
