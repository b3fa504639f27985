"""Frontmatter: nearly all published files must load, and no malicious one may do harm."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.text import HIDDEN
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.frontmatter import Frontmatter, decode_text, read_frontmatter

QUOTED = "this value was read as plain text, since YAML does not allow it without quotes"


def values(block: str) -> dict[str, Any]:
    """Return the values of a valid block of frontmatter."""
    front = read_frontmatter(f"---\n{block}\n---\n")
    assert front.findings == ()
    return front.values


def repaired(block: str) -> tuple[dict[str, Any], list[tuple[int, str]]]:
    front = read_frontmatter(f"---\n{block}\n---\n")
    assert {finding.code for finding in front.findings} <= {
        "frontmatter-repaired",
        "unreadable-value",
        "duplicate-key",
    }
    assert {finding.level for finding in front.findings} <= {"warning"}
    return front.values, [(finding.line, finding.message) for finding in front.findings]


def refused(text: str) -> Finding:
    with pytest.raises(NotLoadable) as caught:
        read_frontmatter(text)
    assert caught.value.finding.level == "error"
    return caught.value.finding


def broken(code: str, message: str, line: int = 1) -> Finding:
    return Finding(code=code, level="error", message=message, line=line)


# Bytes


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"---\nname: x\n---\n", "---\nname: x\n---\n"),
        (b"\xef\xbb\xbf---\n", "---\n"),
        (b"---\r\nname: x\r\n---\r\n", "---\nname: x\n---\n"),
        (b"---\rname: x\r---\r", "---\nname: x\n---\n"),
        (b"a\r\r\nb", "a\n\nb"),
        ("größe 🎉\n".encode(), "größe 🎉\n"),
        (b"", ""),
    ],
)
def test_bytes_are_read_as_utf_8_with_one_kind_of_line_ending(data: bytes, text: str) -> None:
    assert decode_text(data) == text


@pytest.mark.parametrize(
    ("data", "finding"),
    [
        (b"---\nname: caf\xe9\n---\n", broken("not-utf8", "the file is not UTF-8", 2)),
        (b"\xef\xbb\xbf---\n\xff", broken("not-utf8", "the file is not UTF-8", 2)),
        ("---\nname: x\n---\n".encode("utf-16"), broken("not-utf8", "the file is not UTF-8", 1)),
        (b"a\nb\xed\xa0\x80", broken("not-utf8", "the file is not UTF-8", 2)),
        (b"---\nname: x\n---\n\0", broken("nul", "the file contains a NUL character", 4)),
        (b"x" * 1_000_001, broken("too-large", "the file is over 1000000 bytes")),
    ],
)
def test_a_file_that_is_not_text_is_one_finding(data: bytes, finding: Finding) -> None:
    with pytest.raises(NotLoadable) as caught:
        decode_text(data)
    assert caught.value.finding == finding


def test_a_file_as_large_as_is_allowed_is_read() -> None:
    assert len(decode_text(b"x" * 1_000_000)) == 1_000_000


# Fences


@pytest.mark.parametrize(
    ("text", "front"),
    [
        ("---\nname: x\n---\nbody\n", Frontmatter(values={"name": "x"}, body="body\n", body_line=4, dialect="yaml")),
        ("---  \nname: x\n--- \t\n\nb", Frontmatter(values={"name": "x"}, body="\nb", body_line=4, dialect="yaml")),
        ("   ---\nname: x\n---\nb", Frontmatter(values={"name": "x"}, body="b", body_line=4, dialect="yaml")),
        ("\n\t---\nname: x\n---\nb", Frontmatter(values={"name": "x"}, body="b", body_line=5, dialect="yaml")),
        ("\n \n---\nname: x\n---\nb", Frontmatter(values={"name": "x"}, body="b", body_line=6, dialect="yaml")),
        ("---\nname: x\n---", Frontmatter(values={"name": "x"}, body="", body_line=4, dialect="yaml")),
        ("---\n---\nbody", Frontmatter(values={}, body="body", body_line=3, dialect="yaml")),
        ("---\n# only a comment\n---\n", Frontmatter(values={}, body="", body_line=4, dialect="yaml")),
        ("---\n---\nb\n---\nc\n", Frontmatter(values={}, body="b\n---\nc\n", body_line=3, dialect="yaml")),
        ("---yaml\na: b = c\n---\n", Frontmatter(values={"a": "b = c"}, body="", body_line=4, dialect="yaml")),
        ("---yaml\n# x\n---\n", Frontmatter(values={}, body="", body_line=4, dialect="yaml")),
        ("---yaml\na: 1\n---\n", Frontmatter(values={"a": "1"}, body="", body_line=4, dialect="yaml")),
        ('+++\na = "1"\n+++\nb', Frontmatter(values={"a": "1"}, body="b", body_line=4, dialect="toml")),
        ('---toml\na = "1"\n---\nb', Frontmatter(values={"a": "1"}, body="b", body_line=4, dialect="toml")),
        ("--- toml\na = 1\n---\nb", Frontmatter(values={"a": "1"}, body="b", body_line=4, dialect="toml")),
        ("+++\n+++\nb", Frontmatter(values={}, body="b", body_line=3, dialect="toml")),
    ],
)
def test_the_block_between_the_fences_is_found(text: str, front: Frontmatter) -> None:
    assert read_frontmatter(text) == front


def test_a_fence_inside_a_value_is_text() -> None:
    assert values("a: one --- two\nb: |\n  ---\n  x\nc: '----'\nd: |\n  +++") == {
        "a": "one --- two",
        "b": "---\nx\n",
        "c": "----",
        "d": "+++\n",
    }


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("", broken("no-frontmatter", "the file does not begin with a `---` line")),
        ("# Title\n", broken("no-frontmatter", "the file does not begin with a `---` line")),
        ("x\n---\nname: x\n---\n", broken("no-frontmatter", "the file does not begin with a `---` line")),
        ("--\nname: x\n--\n", broken("no-frontmatter", "the file does not begin with a `---` line")),
        ("---\nname: x\n", broken("unclosed", "the frontmatter has no closing `---` line")),
        ("---\nname: x\n----\n", broken("unclosed", "the frontmatter has no closing `---` line")),
        ("---\nname: x\n ---\n", broken("unclosed", "the frontmatter has no closing `---` line")),
        ("+++\na = 1\n---\n", broken("unclosed", "the frontmatter has no closing `+++` line")),
        ("---js\n({name: 'x'})\n---\n", broken("unknown-language", "frontmatter in `js` is not supported")),
        ("\n---coffee\nx\n---\n", broken("unknown-language", "frontmatter in `coffee` is not supported", 2)),
        ("---\x1b[2J\nx\n---\n", broken("unknown-language", "frontmatter in `\\x1b[2J` is not supported")),
        ("---json\n{}\n---\n", broken("unknown-language", "frontmatter in `json` is not supported")),
        ("+++toml\na = 1\n+++\n", broken("unknown-language", "frontmatter in `toml` is not supported")),
        ("----\nname: x\n----\n", broken("no-frontmatter", "the file does not begin with a `---` line")),
        ("---- x\nname: x\n---\n", broken("no-frontmatter", "the file does not begin with a `---` line")),
        ("++++\na = 1\n+++\n", broken("no-frontmatter", "the file does not begin with a `---` line")),
        ("---\n- a\n- b\n---\n", broken("not-a-map", "the frontmatter must be a list of `key: value` lines", 2)),
        ("---\njust words\n---\n", broken("not-a-map", "the frontmatter must be a list of `key: value` lines", 2)),
        (f"---\na: {'x' * 64_000}\n---\n", broken("too-large", "the frontmatter is over 64000 bytes", 2)),
        (f'+++\na = "{"x" * 64_000}"\n+++\n', broken("too-large", "the frontmatter is over 64000 bytes", 2)),
        (f"---\na: {'é' * 32_000}\n---\n", broken("too-large", "the frontmatter is over 64000 bytes", 2)),
    ],
)
def test_missing_frontmatter_is_reported_with_its_line(text: str, finding: Finding) -> None:
    assert refused(text) == finding


def test_a_block_as_large_as_is_allowed_is_read() -> None:
    assert len(values(f"a: {'x' * 63_996}")["a"]) == 63_996


# YAML


@pytest.mark.parametrize(
    "text",
    [
        *("1.10", "1e3", "0755", "0x1F", "1_000", "on", "off", "yes", "No", "true", "False", "y", "2026-01-31", "nil"),
        *("12:30:00", "2026-01-31T12:30:00Z", ".inf", ".nan", "+1", "-0", "1:20", "a#b", "a:b", "=", "<<", "C:\\x"),
    ],
)
def test_a_value_stays_as_written(text: str) -> None:
    assert values(f"key: {text}\nlist: [{text}]\nblock:\n- {text}") == {"key": text, "list": [text], "block": [text]}


def test_a_key_stays_as_written() -> None:
    assert list(values("on: 1\n1.10: 2\n0755: 3\n'': 4\n<<: 5")) == ["on", "1.10", "0755", "", "<<"]


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("a:", None),
        ("a: ~", None),
        ("a: null", None),
        ("a: ''", ""),
        ('a: "~"', "~"),
        ("a: 'null'", "null"),
        ("a: {}", {}),
        ("a: []", []),
        ("a: {b: [c, {d: e}]}", {"b": ["c", {"d": "e"}]}),
        ('a: {"b": "c: d"}', {"b": "c: d"}),
        ("a:\n  b:\n    - c\n    - d: e", {"b": ["c", {"d": "e"}]}),
        ("a: one\n  two\n\n  three", "one two\nthree"),
        ("a: |\n  one\n   two", "one\n two\n"),
        ("a: |-\n  one\n  two", "one\ntwo"),
        ("a: >-\n  one: two\n  three # four", "one: two three # four"),
        ("a: &anchor text", "text"),
        ("a: &anchor [b]", ["b"]),
        ('a: "caf\\u00e9 \\x41\\n"', "café A\n"),
        ("a: 'it''s'", "it's"),
        ("a: b # comment", "b"),
    ],
)
def test_yaml_is_read_as_text_lists_and_maps(block: str, value: Any) -> None:
    assert values(block) == {"a": value}


def test_a_duplicate_key_is_a_warning_and_the_last_one_is_used() -> None:
    assert repaired("name: a\nnested:\n  x: 1\n  x: 2\nname: b") == (
        {"name": "b", "nested": {"x": "2"}},
        [(5, "duplicate key `x`; the last one is used"), (6, "duplicate key `name`; the last one is used")],
    )


# Repairs


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: Use this: it is good", "Use this: it is good"),
        ("a: ends with:", "ends with:"),
        ("a: *bold* words", "*bold* words"),
        ("a: **bold** words", "**bold** words"),
        ("a: !tag x", "!tag x"),
        ("a: !!python/object/apply:os.system [x]", "!!python/object/apply:os.system [x]"),
        ("a: @scope/name", "@scope/name"),
        ("a: `code` first", "`code` first"),
        ("a: [file] and more", "[file] and more"),
        ("a: {x} and more", "{x} and more"),
        ("a: % percent", "% percent"),
        ("a: it's: fine", "it's: fine"),
        ("a-b.c: x: y", "x: y"),
    ],
)
def test_an_invalid_yaml_value_is_read_as_text_and_reported_with_its_line(line: str, value: str) -> None:
    key = line.partition(":")[0]

    assert repaired(f"name: x\n{line}\nversion: 1.10") == (
        {"name": "x", key: value, "version": "1.10"},
        [(3, QUOTED)],
    )


def test_valid_yaml_is_never_repaired() -> None:
    assert values('metadata: {"openclaw": {"emoji": "🎉"}}\nlist: [a, b]\nnote: "a: b"') == {
        "metadata": {"openclaw": {"emoji": "🎉"}},
        "list": ["a", "b"],
        "note": "a: b",
    }


def test_x9_a_valid_value_next_to_an_invalid_one_is_unchanged() -> None:
    block = (
        'metadata: {"openclaw": {"emoji": "x"}}\ntags: [a, b]\ndescription: Use: it\nflow: {a: b,\n  c: d}\nlist: [x] y'
    )

    assert repaired(block) == (
        {
            "metadata": {"openclaw": {"emoji": "x"}},
            "tags": ["a", "b"],
            "description": "Use: it",
            "flow": {"a": "b", "c": "d"},
            "list": "[x] y",
        },
        [(4, QUOTED), (7, QUOTED)],
    )


def test_a_block_scalar_keeps_its_last_lines_when_another_line_is_repaired() -> None:
    assert repaired("a: |+\n  x\n\nb: c: d\ne: |\n  y") == ({"a": "x\n\n", "b": "c: d", "e": "y\n"}, [(5, QUOTED)])


def test_a_comment_after_a_valid_value_is_not_part_of_it_when_another_line_is_repaired() -> None:
    assert repaired("a: one # note\nb: two: three # four") == ({"a": "one", "b": "two: three # four"}, [(3, QUOTED)])


def test_block_scalars_and_comments_stay_as_they_are_when_another_line_is_repaired() -> None:
    block = "a: >-\n  x: y\nb: |\n  *z*\nc: 'q: r'\nd: \"s: t\"\n# e: f: g\nh: i: j"

    assert repaired(block) == (
        {"a": "x: y", "b": "*z*\n", "c": "q: r", "d": "s: t", "h": "i: j"},
        [(9, QUOTED)],
    )


@pytest.mark.parametrize(
    ("block", "found", "lines"),
    [
        ("a: 'open\nb: fine", {"a": "open", "b": "fine"}, [2]),
        ('a: "one" two\nb: fine', {"a": '"one" two', "b": "fine"}, [2]),
        ("a: 'It's broken'\nb: fine", {"a": "It's broken", "b": "fine"}, [2]),
        ("a: 'one' two's\nb: fine", {"a": "'one' two's", "b": "fine"}, [2]),
        ('a: "bad \\quote"\nb: [x]', {"a": "bad \\quote", "b": ["x"]}, [2]),
        ("a: first: line\n  second line\nb: 1.10", {"a": "first: line second line", "b": "1.10"}, [2]),
        ("a: |- text at once\nb: x", {"a": "|- text at once", "b": "x"}, [2]),
        ("<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\nb: 3", {"a": "2", "b": "3"}, [2, 4, 5, 6]),
        ("a: \x07bell\nb: x", {"a": "\x07bell", "b": "x"}, [2]),
        ("a:\n  b: *c\nd: e", {"a": {"b": "*c"}, "d": "e"}, [3]),
        ("\n\na: 'open", {"a": "open"}, [4]),
        ("a: 'open\n  # note\n  more\nb: x", {"a": "open more", "b": "x"}, [2]),
        ("a: 'it' is: 'so'\nb: \"x", {"a": "it' is: 'so", "b": "x"}, [2, 3]),
        ("a: |\n  *one*\n\ttwo\nb: x", {"a": "*one*\ntwo", "b": "x"}, [2]),
        ("x: 'open\na:\n  b: 1\n  b: 2", {"x": "open", "a": {"b": "2"}}, [2, 5]),
        ("b: 1\na: 'open\nb: 2", {"a": "open", "b": "2"}, [4, 3]),
        ("a: 'open\nb:\nc: ~", {"a": "open", "b": None, "c": None}, [2]),
    ],
)
def test_as_a_last_resort_each_key_is_parsed_by_itself(block: str, found: dict[str, Any], lines: list[int]) -> None:
    front, repairs = repaired(block)

    assert front == found
    assert list(front) == list(found)
    assert [line for line, _ in repairs] == lines


def test_lines_count_from_the_top_of_the_file() -> None:
    front = read_frontmatter("\n\n---\nname: x\nname: y\na: b: c\n---\n")

    assert [(finding.code, finding.line) for finding in front.findings] == [
        ("duplicate-key", 5),
        ("frontmatter-repaired", 6),
    ]
    assert refused("\n\n---\n{a: *b}\n---\n") == broken(
        "bad-yaml", "invalid YAML frontmatter: aliases are not supported", 4
    )


# Bombs


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("{" * 63_900, "nested deeper than 20"),
        ("[" * 63_900, "nested deeper than 20"),
        ("- " * 31_900, "nested deeper than 20"),
        ("? " * 31_900, "nested deeper than 20"),
        ("{a: &x b, c: *x}", "aliases are not supported"),
        ("!!map {a: 1}", "tags are not supported"),
        ("! x", "tags are not supported"),
        ("{[a]: b}", "a key is not a string"),
    ],
    ids=["braces", "brackets", "dashes", "questions", "alias", "tag", "bare tag", "list as key"],
)
def test_depth_aliases_and_tags_are_rejected_during_parsing(block: str, why: str) -> None:
    assert refused(f"---\n{block}\n---\n") == broken("bad-yaml", f"invalid YAML frontmatter: {why}", 2)


@pytest.mark.parametrize(
    "block",
    [
        "a: " + "{" * 63_900,
        "a:\n  b: " + "[" * 63_900,
        "a:\n" + "- " * 31_900,
        "a: &x l\n" + "\n".join(f"b{n}: &b{n} [*x, *x]" for n in range(1_900)),
        "\n".join(" " * n + f"k{n}:" for n in range(340)),
        "a: " + "x: " * 21_000,
        "\n".join("k: v: w" for _ in range(7000)),
    ],
    ids=["braces", "brackets below", "dashes below", "billion laughs", "stairs", "colons", "one key often"],
)
def test_a_yaml_bomb_in_a_repaired_key_is_text_or_ignored(block: str) -> None:
    front, repairs = repaired(block)

    assert all(value is None or isinstance(value, str) for value in front.values())
    assert repairs


@pytest.mark.parametrize("depth", [19, 20])
def test_twenty_levels_are_allowed(depth: int) -> None:
    block = "a: " + "[" * depth + "]" * depth
    if depth < 20:
        assert str(values(block)["a"]) == "[" * depth + "]" * depth
    else:
        assert repaired(block) == ({"a": "[" * depth + "]" * depth}, [(2, QUOTED)])


# TOML


def test_toml_values_become_text() -> None:
    block = (
        'name = "x"\nversion = 1.10\ncount = 7\nday = 2026-01-31\ntime = 12:30:00\non = true\noff = false\n'
        'list = ["a", 1.50]\n[mcp.playwright]\ncommand = "npx"\nargs = ["-y"]\n'
    )

    assert read_frontmatter(f"+++\n{block}+++\n").values == {
        "name": "x",
        "version": "1.10",
        "count": "7",
        "day": "2026-01-31",
        "time": "12:30:00",
        "on": "true",
        "off": "false",
        "list": ["a", "1.50"],
        "mcp": {"playwright": {"command": "npx", "args": ["-y"]}},
    }


@pytest.mark.parametrize(
    ("block", "dialect"),
    [
        ('name = "x"', "toml"),
        ('# comment\n\nname = "x"', "toml"),
        ('"a b" = 1', "toml"),
        ("a.b = 1", "toml"),
        ("[mcp.x]\ncommand = 'y'", "toml"),
        ("name: x", "yaml"),
        ("# a = b\nname: x", "yaml"),
        ("name: x = y", "yaml"),
        ("a: =b", "yaml"),
    ],
)
def test_the_first_significant_line_determines_the_dialect(block: str, dialect: str) -> None:
    assert read_frontmatter(f"---\n{block}\n---\n").dialect == dialect


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("a = ", "Invalid value"),
        ("a = 1\na = 2", "Cannot overwrite a value"),
        ("a = " + "1" * 5000, "Exceeds the limit (4300 digits) for integer string conversion"),
        ("a = " + "[" * 7_000, "nested deeper than 20"),
        ("a = " + "{a=" * 2_000, "nested deeper than 20"),
        (".".join("a" * 21) + " = 1", f"the key `{'.'.join('a' * 21)}` has more than 20 parts"),
        (".".join("a" * 30_000) + " = 1", "29,999 dots in keys; at most 5,000 are allowed"),
        ("a = " + "[" * 20 + "]" * 20, "nested deeper than 20"),
        ('a = "\x07"', "Illegal character '\\x07'"),
    ],
    ids=["no value", "twice", "long number", "brackets", "braces", "dots", "many dots", "lists", "control"],
)
def test_invalid_toml_frontmatter_is_rejected(block: str, why: str) -> None:
    finding = refused(f"\n+++\n{block}\n+++\n")

    assert (finding.code, finding.line) == ("bad-toml", 4 if why == "Cannot overwrite a value" else 3)
    assert finding.message.startswith(f"invalid TOML frontmatter: {why}")


def test_only_so_many_keys_of_invalid_yaml_are_repaired() -> None:
    keys = [f"k{number}: a: b" for number in range(2_001)]

    assert len(read_frontmatter("\n".join(["---", *keys[:2_000], "---", ""])).values) == 2_000
    assert refused("\n".join(["---", *keys, "---", ""])).message.startswith("invalid YAML frontmatter: ")


def test_as_much_toml_as_is_allowed_is_read() -> None:
    assert len(read_frontmatter(f"+++\na = '{'x' * 63_993}'\n+++\n").values["a"]) == 63_993


def test_twenty_levels_of_toml_are_allowed() -> None:
    front = read_frontmatter("+++\na = " + "[" * 19 + "]" * 19 + "\n" + ".".join("b" * 20) + " = 1\n+++\n")

    assert str(front.values["a"]) == "[" * 19 + "]" * 19
    assert str(front.values["b"]).count("{") == 19


# Anything


LINES = st.sampled_from(
    [
        *("---", "+++", "---js", "name: x", "a: b: c", "a: *x", "a: &x 1", "a: [", "  b: 'c", "- d", "\t", "a = 1"),
        *("[t]", "<<<<<<< x", "a: |", "a: >-", "  text", "? k", "!!t", "a: \x07", "a: \u2028", "{", '"', "#", ""),
    ]
)


@settings(max_examples=200)
@given(st.lists(LINES | st.text(max_size=6), max_size=10).map("\n".join))
def test_any_text_is_parsed_or_rejected_without_a_crash(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n", f"+++\n{text}\n+++\n"):
        try:
            findings = read_frontmatter(whole).findings
        except NotLoadable as error:
            findings = (error.finding,)
        lines = whole.count("\n") + 1
        assert [finding for finding in findings if not 1 <= finding.line <= lines] == []
        assert [finding for finding in findings if HIDDEN.search(finding.message)] == []


def test_the_line_of_invalid_toml_is_that_of_the_file() -> None:
    finding = refused("+++\nname = 'x'\ndescription = y\n+++\n")
    assert (finding.code, finding.message, finding.line) == (
        "bad-toml",
        "invalid TOML frontmatter: Invalid value",
        3,
    )
