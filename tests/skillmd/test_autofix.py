"""`validate --fix`: fixes what it reports and nothing else, without changing the parsed skill; idempotent."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skillpm.skillmd.autofix import PRESERVED_FIELDS, fix
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill
from skillpm.skillmd.validation import validate_skill


def run_fix(text: str, folder: str = "x") -> tuple[str, list[tuple[int, str, str]]]:
    result = fix(text.encode(), folder)
    return result.data.decode(), [(item.line, item.code, item.message) for item in result.fixes]


QUOTED = "quoted `{}`"
MOVED = "moved `{}` under `metadata`, as text"


@pytest.mark.parametrize(
    ("before", "after", "fixes"),
    [
        ("\ufeff---\nname: x\n---\n", "---\nname: x\n---\n", [(1, "bom", "removed the byte order mark")]),
        (
            "\n \n---\nname: x\n---\nb",
            "---\nname: x\n---\nb",
            [(1, "leading-blank", "removed the blank lines before the frontmatter")],
        ),
        ("  ---\nname: x\n---\nb", "---\nname: x\n---\nb", [
            (1, "leading-blank", "removed the spaces before the frontmatter")]),
        ("\r\n\t---\r\ndescription: d\r\n---\r\n", "---\r\nname: x\r\ndescription: d\r\n---\r\n", [
            (1, "leading-blank", "removed the blank lines before the frontmatter"),
            (2, "missing-name", "added the name of the folder: `x`")]),
        (
            "---\nname: x\ndescription: Use this: it's good\n---\n",
            "---\nname: x\ndescription: 'Use this: it''s good'\n---\n",
            [(3, "frontmatter-repaired", QUOTED.format("description"))],
        ),
        (
            "---\nname: x\na: [date] [type]\nb: **bold**\n---\n",
            "---\nname: x\na: '[date] [type]'\nb: '**bold**'\n---\n",
            [(3, "frontmatter-repaired", QUOTED.format("a")), (4, "frontmatter-repaired", QUOTED.format("b"))],
        ),
        (
            "---\nname: x\na: tab: \x07\n---\n",
            '---\nname: x\na: "tab: \\U00000007"\n---\n',
            [(3, "frontmatter-repaired", QUOTED.format("a"))],
        ),
        (
            "---\nname: x\nmetadata:\n  # c\n  note: What's in: x\n\n  mcp:\n  - args: [@a/b]\n  v: 1.20\n---\n",
            "---\nname: x\nmetadata:\n  # c\n  note: 'What''s in: x'\n\n  mcp:\n  - args: ['@a/b']\n  v: 1.20\n---\n",
            [
                (5, "frontmatter-repaired", QUOTED.format("metadata")),
                (8, "frontmatter-repaired", QUOTED.format("metadata")),
            ],
        ),
        (
            "---\nname: x\nmetadata:\n\ta:\n\t\tb: 1\n\tc: d: e\n---\n",
            "---\nname: x\nmetadata:\n  a:\n    b: 1\n  c: 'd: e'\n---\n",
            [
                (4, "frontmatter-repaired", "replaced the tabs in `metadata`"),
                (5, "frontmatter-repaired", "replaced the tabs in `metadata`"),
                (6, "frontmatter-repaired", QUOTED.format("metadata")),
            ],
        ),
        ("---\n# c\ndescription: d\n---\n", "---\nname: x\n# c\ndescription: d\n---\n", [
            (1, "missing-name", "added the name of the folder: `x`")]),
        (
            "---\nname: x\nversion: 1.0 \ndescription: d\ntags: [a, b c]\n---\n",
            "---\nname: x\nmetadata:\n  version: '1.0'\n  tags: 'a, b c'\ndescription: d\n---\n",
            [(3, "unknown-field", MOVED.format("version")), (5, "unknown-field", MOVED.format("tags"))],
        ),
        (
            "---\nversion: 1.0\nmetadata:\n    a: b\n    # c\n\n# d\nname: x\nmcp-y: run z\n---\n",
            "---\nmetadata:\n    a: b\n    # c\n    version: '1.0'\n    mcp-y: 'run z'\n\n# d\nname: x\n---\n",
            [(2, "unknown-field", MOVED.format("version")), (9, "unknown-field", MOVED.format("mcp-y"))],
        ),
        ("---\r\nname: x\r\nversion: 2\r\n---\r\nb\r", "---\r\nname: x\r\nmetadata:\r\n  version: '2'\r\n---\r\nb\r", [
            (3, "unknown-field", MOVED.format("version"))]),
    ],
)  # fmt: skip
def test_fixable_problems_are_fixed_and_reported(before: str, after: str, fixes: list[tuple[int, str, str]]) -> None:
    assert run_fix(before) == (after, fixes)


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: x\ndescription: fine\n---\nbody",
        "---\nname: x\nname: y\n---\n",
        "---\nname: other\n---\n",
        "---\nname: x\nauthor: me # to be moved with care\n---\n",
        "---\nname: x\nversion: {a: b}\n---\n",
        "---\nname: x\ntags: [{a: b}]\n---\n",
        "---\nname: x\ntags:\n- 'a, b'\n---\n",
        "---\nname: x\nversion: 1\nmetadata: {a: b}\n---\n",
        "---\nname: x\nversion: 1\nmetadata:\n  version: 2\n---\n",
        "---\nname: x\nmodel: opus\n---\n",
        "---\nname: x\na: 'open\n---\n",
        "---\nname: x\na: 'open\n  more words\n---\n",
        '---\nname: x\na: "tab \\q"\n---\n',
        "---\nname: x\ndescription: Use this: it's good # yes\n---\n",
        "---\nname: x\ndescription: two: lines\n  of it\n---\n",
        "---\nname: x\nauthor: 'me\n---\n",
        "---\nname: x\na: *c\n---\n",
        "---\nname: x\na: [b\n---\n",
        "---\nname: x\nversion: [b, c\n---\n",
        "---\nname: x\nmetadata:\n  a: b: c\n  d: 'open\n---\n",
        "---\nname: x\nmetadata:\n  a: b: c # d\n  e: f: g\n---\n",
        "---\nname: x\nmetadata:\n  a: 1\n    b: 2\n---\n",
        "---\nname: x\nmetadata:\n  a: 1\nstray\n---\n",
        "---\nname: x\n<<<<<<< HEAD\n---\n",
        "+++\nname = 'x'\nversion = '1'\n+++\n",
        "no frontmatter",
        "---\nnot closed",
        "---\n{name: x, version: 1}\n---\n",
        "---\nname: x\n\t\ndescription: d\n---\n",
        "---\nname: x\nmetadata:\n  # c\n@\nversion: 1\n---\n",
        "---\nname: x\nmetadata:\n- a\nversion: 1\n---\n",
    ],
)
def test_decisions_of_the_author_stay(text: str) -> None:
    assert run_fix(text) == (text, [])


def test_a_folder_without_a_valid_name_adds_none() -> None:
    assert run_fix("---\ndescription: d\n---\n", "My Skill") == ("---\ndescription: d\n---\n", [])


def test_a_fixed_skill_is_valid_if_nothing_else_was_wrong() -> None:
    text = "\ufeff---\ndescription: Use this: it is good.\nversion: 1.0\ntriggers: [a, b]\n---\nBody.\n"
    fixed = fix(text.encode(), "x")

    assert [(item.line, item.code) for item in fixed.fixes] == [
        *((1, "bom"), (1, "missing-name"), (2, "frontmatter-repaired")),
        *((3, "unknown-field"), (4, "unknown-field")),
    ]
    assert validate_skill(fixed.data, "x", ["SKILL.md"]).findings == ()


# Anything


KEYS = st.sampled_from(
    ["name", "description", "version", "tags", "triggers", "requires", "author", "metadata", "mcp-a", "model", "x y"]
)
VALUES = st.sampled_from(
    [
        *(
            "",
            "x",
            "a: b",
            "'open",
            '"open',
            "[a, b]",
            "[a",
            "{a: b}",
            "*x",
            "|\n  a\n  b",
            ">-\n  a: b",
            "a # c",
            "'q'",
        ),
        *(
            "\n  a: b",
            "\n  version: 2",
            "\n- a\n- b",
            "\n  - 'x, y'",
            "x\n  more: words",
            "\x07",
            "größe: 1",
            "a\n\n# c",
        ),
    ]
)
LINES = st.one_of(
    st.tuples(KEYS, VALUES).map(lambda row: f"{row[0]}: {row[1]}"),
    st.sampled_from(["# c", "", "<<<<<<< x", "---x", "  nested: y", "\t", "..."]),
    st.text(max_size=8),
)
HEADS = st.sampled_from(["", "\ufeff", "\n", "\ufeff\n \n"])


def read(data: bytes) -> Skill | None:
    try:
        return read_skill(data)
    except NotLoadable:
        return None


def parsed_fields(skill: Skill) -> dict[str, Any]:
    return {field: getattr(skill, field) for field in PRESERVED_FIELDS}


@settings(max_examples=400)
@example("", ["version: x"] * 7, "", "\n")
@example("", ["version: x"] * 99, "", "\n")
@given(HEADS, st.lists(LINES, max_size=6), st.text(max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_fixing_never_changes_the_parsed_skill_and_is_idempotent(
    head: str, lines: list[str], body: str, ending: str
) -> None:
    data = (head + "\n".join(["---", *lines, "---", body])).replace("\n", ending).encode("utf-8", "replace")
    fixed = fix(data, "x")
    before, after = read(data), read(fixed.data)

    assert fix(fixed.data, "x") == fixed.replace(fixes=())
    assert fixed.data.endswith(f"---\n{body}".replace("\n", ending).encode("utf-8", "replace"))
    assert (fixed.data == data) == (fixed.fixes == ())
    assert (before is None) == (after is None)
    if before is None or after is None:
        assert fixed.data == data
        return
    assert parsed_fields(before) == parsed_fields(after)
    assert after.declared in {before.declared, "x"}
    # Line by line: what is gone or new is one of the named repairs.
    touched = {item.code for item in fixed.fixes}
    if "unknown-field" not in touched and "frontmatter-repaired" not in touched:
        inserted = [f"name: x{ending}".encode()] if "missing-name" in touched else []
        rest = data.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
        assert [line for line in fixed.data.splitlines(keepends=True) if line not in inserted or line in rest] == [
            line for number, line in enumerate(rest) if line.strip() or any(other.strip() for other in rest[:number])
        ]
