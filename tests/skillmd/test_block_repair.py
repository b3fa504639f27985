"""One bad line in a nested value: its siblings keep their values, or the value is reported and ignored as a whole."""

from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skillpm.skillmd.autofix import fix
from skillpm.skillmd.frontmatter import Frontmatter, read_frontmatter
from skillpm.skillmd.lenient_parser import QUOTED_REPAIR, STRAY_REPAIR, TABS_REPAIR

REPAIRED = "frontmatter-repaired"
NO_COLON = "mapping values are not allowed in this context"


def read(block: str) -> tuple[dict[str, Any], list[tuple[int, str, str]]]:
    front = read_frontmatter(f"---\n{block}\n---\n")
    return front.values, [(finding.line, finding.code, finding.message) for finding in front.findings]


def ignored(line: int, key: str, reason: str) -> list[tuple[int, str, str]]:
    return [(line, "unreadable-value", f"`{key}` is ignored, since it is not valid YAML: {reason}")]


@pytest.mark.parametrize(
    ("block", "values", "lines"),
    [
        ("m:\n  v: 1.20\n  n: What's in: x\n  t: x", {"v": "1.20", "n": "What's in: x", "t": "x"}, [4]),
        ("m:\n  a:\n    b: c: d\n    e: f\n  g: h", {"a": {"b": "c: d", "e": "f"}, "g": "h"}, [4]),
        ("m:\n- @foo\n- bar", ["@foo", "bar"], [3]),
        ("m:\n  - @scope/tool\n  - git", ["@scope/tool", "git"], [3]),
        ("m:\n  pw:\n    args: [@playwright/mcp, -y]", {"pw": {"args": ["@playwright/mcp", "-y"]}}, [4]),
        ("m: [@a, b, c: d: e]", ["@a", "b", "c: d: e"], [2]),
        ("m:\n  - a: b: c\n    d: e\n  - f", [{"a": "b: c", "d": "e"}, "f"], [3]),
        ("m:\n  - - @a\n    - b\n  - c", [["@a", "b"], "c"], [3]),
        ("m:\n  a:\n  - @b\n  c: d", {"a": ["@b"], "c": "d"}, [4]),
        ("m:\n  # c\n\n  a: *b\n# d\n  e: |\n    f: g: h\n", {"a": "*b", "e": "f: g: h\n"}, [5]),
        ('m:\n  a: "b",\n  c: d', {"a": '"b",', "c": "d"}, [3]),
        ('m:\n  a: "\\U+1F"\n  c: d', {"a": "\\U+1F", "c": "d"}, [3]),
        ('m:\n  - "a" in b\n  - c', ['"a" in b', "c"], [3]),
        ("m:\n  \"a b\": c: d\n  @e/f: 'g'", {"a b": "c: d"}, None),
        ("m:\n  a: [b] c: d\n  e: f", {"a": "[b] c: d", "e": "f"}, [3]),
    ],
)  # fmt: skip
def test_only_the_invalid_scalars_are_read_as_text(block: str, values: Any, lines: list[int] | None) -> None:
    if lines is None:
        assert read(block)[0] == {"m": None}
    else:
        assert read(block) == ({"m": values}, [(line, REPAIRED, QUOTED_REPAIR) for line in lines])


def test_tabs_behind_spaces_are_read_as_indentation() -> None:
    assert read("m:\n  \ta: 1\n  \tb: 2") == ({"m": {"a": "1", "b": "2"}}, [(3, REPAIRED, TABS_REPAIR)])


def test_tabs_are_read_as_indentation() -> None:
    block = 'm:\n\tauthor: Ada\n\tversion: "1.2"\n\tt:\n\t\t- a\n\n\t\t- b: c: d'

    assert read(block) == (
        {"m": {"author": "Ada", "version": "1.2", "t": ["a", {"b": "c: d"}]}},
        [(8, REPAIRED, QUOTED_REPAIR), (3, REPAIRED, TABS_REPAIR)],
    )


@pytest.mark.parametrize(
    ("block", "line", "reason"),
    [
        ("m:\n  a: 'open\n  b: 1", 4, "found unexpected end of stream"),
        ("m:\n  a: c: d\n  b: [1, 2\n  c: 3", 3, NO_COLON),
        ("m:\n  a: c: d\n  b: {1: 2: 3}", 3, NO_COLON),
        ("m:\n  a: What's inside: x\n    version: 1.2", 3, NO_COLON),
        ("m:\n  a: 1\n    b: 2\n  c: 3", 4, NO_COLON),
        ("m:\n  a: c: d\n b: 2", 3, NO_COLON),
        ("m:\n  a: 1\n  - b", 4, "did not find expected key"),
        ("m:\n  - a\n  b: c", 4, "did not find expected '-' indicator"),
        ("m:\n  a: 1\n  just words", 5, "could not find expected ':'"),
        ("m:\n  a: 1\n\tb: 2", 4, "found a tab character that violates indentation"),
        ("m:\n  a: |\n\tb\n  c: d", 4, "found a tab character where an indentation space is expected"),
        ("m: - a", 2, "block sequence entries are not allowed in this context"),
        ("m:\n  a: - b\n  c: d", 3, "block sequence entries are not allowed in this context"),
        ("m: [a, b", 3, "did not find expected ',' or ']'"),
        ('m: {"a": 1}\n  b: 2', 3, "did not find expected key"),
        ("m: a: b\n  version: 1.2", 2, NO_COLON),
    ],
)
def test_a_value_whose_lines_can_mean_two_things_is_ignored_as_a_whole(block: str, line: int, reason: str) -> None:
    values, findings = read(f"{block}\nz: 1")

    assert values == {"m": None, "z": "1"}
    assert findings == ignored(min(line, block.count("\n") + 2), "m", reason)


def test_text_below_a_value_that_belongs_to_no_key_is_ignored() -> None:
    assert read('tags: ["a", "b"]\n---# Title\n- more, words\nb:\n  c: d: e\n\nstray') == (
        {"tags": ["a", "b"], "b": {"c": "d: e"}},
        [(3, REPAIRED, STRAY_REPAIR), (6, REPAIRED, QUOTED_REPAIR), (8, REPAIRED, STRAY_REPAIR)],
    )


@pytest.mark.parametrize(
    "block",
    [
        'metadata:\n{\n  "a": {"b": ["c"]}\n}',
        'metadata:\n  {\n    "a": "\\ud83c\\udfc3"\n  }',
        'metadata: {"a": "\\ud83c"}',
    ],
)
def test_json_that_is_not_yaml_stays_text_which_is_read_later(block: str) -> None:
    value = read(block)[0]["metadata"]
    assert (value[0], value[-1]) == ("{", "}")


def test_a_description_is_text_whatever_its_lines_look_like() -> None:
    assert read("description: Builds things.\n  Use when: asked, or: told\n  - always")[0] == {
        "description": "Builds things. Use when: asked, or: told - always"
    }


# Anything


NAMES = st.sampled_from(["a", "b-c", "version", "triggers", "@d/e", "f.g"])
SCALARS = st.sampled_from(["x", "1.20", "two words", "'q: r'", '"s"', "it's", "[l, m]", "{n: o}", "|\n  p: q", "~"])


def nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    mappings = st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    return SCALARS | mappings | st.lists(inner, min_size=1, max_size=3)


MAPPINGS = st.dictionaries(NAMES, nest(nest(SCALARS)), min_size=1, max_size=4)
BAD_SCALARS = st.sampled_from(
    [
        *("What's inside: builds", "@scope/x", "*y", "&z w", "!t u", "a: b # c", "`code`", "%d", "x: y: z", "[b] c: d"),
        *("[@e, f]", "[g", "{h", "[i: j: k]", "{l: m: n}", "'open", '"open', '"bad \\q"', '"a" b', "'a' b: 'c'", "|x"),
        *("- @o", "- p: q: r", "? s", ", t", "} u", "\x07: v"),
    ]
)
BAD_LINES = BAD_SCALARS | BAD_SCALARS.map("note: {}".format) | BAD_SCALARS.map("- {}".format) | st.text(max_size=6)


def render(tree: Any, indent: str, level: int) -> list[str]:
    """Return the lines of a block, with `indent` for each level."""
    if isinstance(tree, str):
        return [line if number == 0 else indent * level + line for number, line in enumerate(tree.split("\n"))]
    entries = (
        [(f"{key}:", inner) for key, inner in tree.items()] if isinstance(tree, dict) else [("-", i) for i in tree]
    )
    lines: list[str] = []
    for head, inner in entries:
        below = render(inner, indent, level + 1)
        if isinstance(inner, str):
            lines.extend([f"{indent * level}{head} {below[0]}", *below[1:]])
        else:
            lines.extend([indent * level + head, *below])
    return lines


def leaves(value: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Return the scalars of a value with their paths; lists are paths too, so that their order counts."""
    if isinstance(value, dict | list) and value:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {key: leaf for name, inner in pairs for key, leaf in leaves(inner, (*path, name)).items()}
    return {path: value}


def front_of(lines: list[str]) -> Frontmatter:
    return read_frontmatter("\n".join(["---", "name: x", "description: d", "m:", *lines, "z: 1", "---", ""]))


@settings(max_examples=400)
@given(MAPPINGS, BAD_LINES, st.sampled_from(["  ", "    ", " "]), st.integers(0, 30), st.integers(1, 3))
def test_a_line_among_others_changes_none_of_their_values(
    tree: dict[str, Any], bad: str, indent: str, at: int, level: int
) -> None:
    lines = render(tree, indent, 1)
    whole = front_of(lines).values["m"]
    at %= len(lines) + 1
    assume(not any("|" in line for line in lines[max(0, at - 1) : at]))  # it would be in the block scalar
    broken = [*lines[:at], indent * level + bad, *lines[at:]]
    assume("\n" not in bad and "\r" not in bad and is_invalid(broken))
    front = front_of(broken)

    assert front.values["z"] == "1"
    assert front.findings
    value = front.values["m"]
    if value is not None:
        texts = sorted(map(str, leaves(value).values()))
        for text in map(str, leaves(whole).values()):
            assert text in texts
            texts.remove(text)
        assert all(text in ("None", *bad) or text.strip("\n") in bad for text in texts)
    check_fix(broken, front)


@settings(max_examples=400)
@given(MAPPINGS, BAD_SCALARS, st.sampled_from(["  ", "    ", "\t"]), st.data())
def test_an_invalid_scalar_leaves_its_siblings_where_they_are(
    tree: dict[str, Any], bad: str, indent: str, data: st.DataObject
) -> None:
    paths = sorted(leaves(tree), key=str)
    path = data.draw(st.sampled_from(paths))
    broken_tree = replace_leaf(tree, path, bad)
    broken = render(broken_tree, indent, 1)
    assume(is_invalid(broken))
    front = front_of(broken)

    assert front.values["z"] == "1"
    value = front.values["m"]
    if value is not None:
        before = leaves(front_of(render(replace_leaf(tree, path, "MARK"), "  ", 1)).values["m"])
        after = leaves(value)
        assert {key: leaf for key, leaf in before.items() if leaf != "MARK"}.items() <= after.items()
        assert all(key[: len(path)] == path for key in after.keys() - before.keys())
    check_fix(broken, front)


def replace_leaf(tree: Any, path: tuple[Any, ...], text: str) -> Any:
    if not path:
        return text
    if isinstance(tree, dict):
        return {key: replace_leaf(inner, path[1:], text) if key == path[0] else inner for key, inner in tree.items()}
    return [replace_leaf(inner, path[1:], text) if key == path[0] else inner for key, inner in enumerate(tree)]


def is_invalid(lines: list[str]) -> bool:
    try:
        yaml.compose("\n".join(["m:", *lines]), Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return True
    return False


def check_fix(lines: list[str], front: Frontmatter) -> None:
    text = "\n".join(["---", "name: x", "description: d", "m:", *lines, "z: 1", "---", ""])
    fixed = fix(text.encode(), "x")
    again = read_frontmatter(fixed.data.decode())
    assert again.values == front.values
    if any(finding.code == "unreadable-value" for finding in front.findings):
        assert fixed.data == text.encode()
