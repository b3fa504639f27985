"""A parsed SKILL.md: fields are normalized from all spellings, and other keys kept unchanged."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.system_requirements import SystemRequirements
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import McpServer, Skill, read_skill

OUTSIDE = "the name does not match the specification"


def read(block: str, body: str = "") -> Skill:
    return read_skill(f"---\nname: x\ndescription: d\n{block}\n---\n{body}".encode())


def warning(code: str, message: str, line: int = 1) -> Finding:
    return Finding(code=code, level="warning", message=message, line=line)


def test_a_whole_skill() -> None:
    data = (
        b"\xef\xbb\xbf---\r\n"
        b"name: code-review\r\n"
        b"description: >\r\n  Reviews a change,\r\n  kindly.\r\n"
        b"version: 1.10\r\nlicense: MIT\r\ncompatibility: Claude Code  2\r\ncategory: development\r\n"
        b"triggers: [review, pull request]\r\ntags: a, b\r\nhomepage: https://x.example\r\nauthor: Ann\r\n"
        b"requires: git\r\nallowed-tools: Read, Bash(git:*)\r\nmcp-web: npx -y server\r\n"
        b"metadata:\r\n  audience: developers\r\n"
        b"user-invocable: off\r\nhooks: {stop: [a]}\r\n"
        b"---\r\n# Review\r\n"
    )
    skill = read_skill(data)

    assert skill == Skill(
        declared="code-review",
        description="Reviews a change, kindly.",
        body="# Review\n",
        version="1.10",
        license="MIT",
        compatibility="Claude Code 2",
        category="development",
        triggers=("review", "pull request"),
        tags=("a", "b"),
        homepage="https://x.example",
        author="Ann",
        requires=SystemRequirements(bins=("git",)),
        allowed_tools=("Read", "Bash(git:*)"),
        mcp_servers=(McpServer(name="web", command="npx", args=("-y", "server")),),
        metadata={"audience": "developers"},
        extra={"user-invocable": "off", "hooks": {"stop": ["a"]}},
        frontmatter=skill.frontmatter,
    )
    assert list(skill.frontmatter)[-3:] == ["metadata", "user-invocable", "hooks"]


@pytest.mark.parametrize(
    ("block", "findings"),
    [
        ("name: x\ndescription: d", ()),
        ("description: d", (warning("missing-name", "missing name; the folder's name is used"),)),
        ("name:\ndescription: d", (warning("missing-name", "missing name; the folder's name is used", 2),)),
        ("name: [x]\ndescription: d", (warning("missing-name", "missing name; the folder's name is used", 2),)),
        (
            "name: My Skill\ndescription: d",
            (warning("bad-name", "the name does not match the specification", 2),),
        ),
        (
            "name: x",
            (warning("missing-description", "missing description, so models do not see this skill"),),
        ),
        (
            "name: x\ndescription: null",
            (warning("missing-description", "missing description, so models do not see this skill", 3),),
        ),
        (
            "name: x\ndescription: use: it",
            (
                warning(
                    "frontmatter-repaired",
                    "this value was read as plain text, since YAML does not allow it without quotes",
                    3,
                ),
            ),
        ),
    ],
)
def test_a_missing_field_is_a_warning(block: str, findings: tuple[Finding, ...]) -> None:
    assert read_skill(f"---\n{block}\n---\n".encode()).findings == findings


@pytest.mark.parametrize("data", [b"", b"# no head\n", b"\xff", b"---\0\n---\n", b"---js\n---\n", b"---\n- a\n---\n"])
def test_an_unloadable_file_is_rejected_with_the_reason(data: bytes) -> None:
    with pytest.raises(NotLoadable) as caught:
        read_skill(data)
    assert caught.value.finding.level == "error"
    assert str(caught.value) == caught.value.finding.message


# Words


@pytest.mark.parametrize(
    ("block", "triggers"),
    [
        ("triggers: [a, b c]", ("a", "b c")),
        ("triggers:\n- a\n- b\n- a", ("a", "b")),
        ("triggers: a, b c ,, d", ("a", "b c", "d")),
        ("triggers: a|b", ("a", "b")),
        ("trigger: a|b c", ("a", "b c")),
        ("trigger: manual", ("manual",)),
        ("trigger: x|y\ntriggers: [y, z]", ("y", "z", "x")),
        ("triggers: [Y, y, Z]", ("Y", "Z")),
        ("trigger: a\ntriggers: []", ("a",)),
        ("triggers: |\n  one\n  line, two", ("one line", "two")),
        ("triggers: {on: push}", ()),
        ("triggers: {keywords: [a, b c], conditions: [never read]}", ("a", "b c")),
        ("triggers: {keyword: 'a, b'}", ("a", "b")),
        (
            "triggers:\n- pattern: stock|share price\n- pattern: buy.*now|sell\n- plain",
            ("plain", "stock", "share price", "sell"),
        ),
        ("triggers: \"[a, 'b c']\"", ("a", "b c")),
        ("triggers:\n- {on: push}\n- a", ("a",)),
        ("triggers:", ()),
        ("triggers: 1.10, on", ("1.10", "on")),
        ("metadata:\n  triggers: a, b", ("a", "b")),
        ("metadata:\n  trigger: a", ("a",)),
        ("triggers: [a]\nmetadata:\n  triggers: b", ("a",)),
        ("triggers:\nmetadata:\n  triggers: b", ("b",)),
        ("metadata:\n  triggers: [a]", ("a",)),
    ],
)
def test_triggers_are_one_list_however_they_are_written(block: str, triggers: tuple[str, ...]) -> None:
    assert read(block).triggers == triggers


@pytest.mark.parametrize(
    ("value", "tools"),
    [
        ("Read", ("Read",)),
        ("Read, Write", ("Read", "Write")),
        ("Read Write", ("Read", "Write")),
        ("Bash(git:*), Bash(npm run test), Read", ("Bash(git:*)", "Bash(npm run test)", "Read")),
        ("Bash(git:*) Read", ("Bash(git:*)", "Read")),
        ("[Read, 'Bash(git add, git commit)']", ("Read", "Bash(git add, git commit)")),
        ("[Read, {x: y}, '', -]", ("Read",)),
        ("Read - Write", ("Read", "Write")),
        ("|\n  - Read\n  - Bash(a - b)", ("Read", "Bash(a - b)")),
        ("{Read: true}", ()),
        ("", ()),
    ],
)
def test_allowed_tools_are_one_list(value: str, tools: tuple[str, ...]) -> None:
    assert read(f"allowed-tools: {value}").allowed_tools == tools


# Fields that may stand in two places


@pytest.mark.parametrize("field", ["version", "category", "homepage", "author"])
def test_a_field_is_read_from_the_top_or_as_text_from_metadata(field: str) -> None:
    def value(block: str) -> Any:
        return getattr(read(block), field)

    assert value(f"{field}: 1.10") == "1.10"
    assert value(f"metadata:\n  {field}: '1.10'") == "1.10"
    assert value(f"{field}: top\nmetadata:\n  {field}: below") == "top"
    assert value(f"{field}:\nmetadata:\n  {field}: below") == "below"
    assert value(f"metadata:\n  {field}: [a]") == ""
    assert value(f"{field}: [a]") == ""


@pytest.mark.parametrize("field", ["license", "compatibility", "description", "name"])
def test_a_field_of_the_specification_is_read_from_the_top_only(field: str) -> None:
    skill = read_skill(f"---\nmetadata:\n  {field}: below\n---\n".encode())

    assert (skill.license, skill.compatibility, skill.description, skill.declared) == ("", "", "", "")


def test_values_keep_their_text() -> None:
    skill = read("version: 1.10\ncategory: on\nauthor: 0755\nlicense: 2026-01-31\nhomepage: 12:30:00\nx: No")

    assert (skill.version, skill.category, skill.author, skill.license, skill.homepage, skill.extra) == (
        *("1.10", "on", "0755", "2026-01-31", "12:30:00"),
        {"x": "No"},
    )


def test_metadata_with_a_lone_surrogate_is_text() -> None:
    skill = read_skill(b'---\nname: a\ndescription: b\nmetadata: \'{"x": "\\ud800"}\'\n---\n')
    assert skill.metadata == {}
    assert skill.extra == {"metadata": '{"x": "\\ud800"}'}


def test_a_description_is_one_line() -> None:
    assert read_skill(b"---\ndescription: |\n  one\n\n    two\t\n---\n").description == "one two"


# MCP servers


@pytest.mark.parametrize(
    ("block", "servers"),
    [
        (
            "mcp-playwright: npx @playwright/mcp --headless",
            [McpServer(name="playwright", command="npx", args=("@playwright/mcp", "--headless"))],
        ),
        ("mcp-a: run 'one two' \"three\"", [McpServer(name="a", command="run", args=("one two", "three"))]),
        ("metadata:\n  mcp-a: run x", [McpServer(name="a", command="run", args=("x",))]),
        ("mcp-a: top\nmetadata:\n  mcp-a: below", [McpServer(name="a", command="top")]),
        ("mcp:\n  a:\n    command: run\n    args: [x, '1.0']", [McpServer(name="a", command="run", args=("x", "1.0"))]),
        ("mcp: {b: {command: run}, a: {command: ./bin/x}}", [
            McpServer(name="a", command="./bin/x"), McpServer(name="b", command="run")]),
        ("mcp-a: one\nmcp: {a: {command: two}}", [McpServer(name="a", command="two")]),
        ("mcp-a: $(touch pwned)", []),
        ("mcp-a: run;rm", []),
        ("mcp-a: \"'open\"", []),
        ("mcp-a:", []),
        ("mcp-a: ''", []),
        ("mcp-: run", []),
        ("mcp-a: [run]", []),
        ("mcp: [a]", []),
        ("mcp: {a: run x}", [McpServer(name="a", command="run", args=("x",))]),
        ("mcp: {a: {command: [run]}}", []),
        ("mcp: {a: {command: run, args: [{x: y}]}}", []),
        ("mcp: {a: {command: 'run x'}}", []),
        ("mcp: {a: {command: ''}}", []),
        ("mcp: {a: {command: run, args: x 'y z'}}", [McpServer(name="a", command="run", args=("x", "y z"))]),
        ("mcp: {a: {command: run, args: {x: y}}}", [McpServer(name="a", command="run")]),
        ("mcp: {a: {url: 'https://x.example'}}", []),
        ("mcp-a: -x run", []),
        ("mcp: {a b: {command: run}}", []),
    ],
)  # fmt: skip
def test_mcp_servers_have_three_spellings(block: str, servers: list[McpServer]) -> None:
    assert read(block).mcp_servers == tuple(servers)


def test_an_invalid_mcp_server_is_skipped_and_reported() -> None:
    skill = read("mcp-good: run\nmcp-bad: run;rm -rf x\nmcp: {a b: {command: run}, c: {url: 'https://x'}}")
    allowed = "may contain only letters, digits and `. _ - + @ /`"

    assert [server.name for server in skill.mcp_servers] == ["good"]
    assert skill.findings == (
        warning("mcp-left-out", f"the MCP server `bad` is ignored: its command {allowed}", 5),
        warning("mcp-left-out", f"the MCP server `a b` is ignored: its name {allowed.replace('- + @', '- @')}", 6),
        warning("mcp-left-out", "the MCP server `c` is ignored: its command must be text with arguments", 6),
    )  # fmt: skip


def test_the_third_spelling_is_toml() -> None:
    data = b'+++\nname = "x"\n[mcp.a]\ncommand = "npx"\nargs = ["-y", "s@1.0"]\n[mcp.b]\ncommand = "b"\n+++\n'

    assert read_skill(data).mcp_servers == (
        McpServer(name="a", command="npx", args=("-y", "s@1.0")),
        McpServer(name="b", command="b"),
    )


# The rest


def test_all_other_keys_are_kept_unchanged() -> None:
    block = "argument-hint: [file]\nmodel: opus\npaths: {a: [b]}\ndate_added: 2026-01-31\nmcp-x: y\ntrigger: t\nempty:"

    assert read(block).extra == {
        "argument-hint": ["file"],
        "model": "opus",
        "paths": {"a": ["b"]},
        "date_added": "2026-01-31",
        "empty": None,
    }


@pytest.mark.parametrize(
    ("body", "tokens"),
    [("", 0), ("a", 1), ("Read the file first.\n", 5), ("| `a` | `b` |\n", 8), ("读取文件", 4)],
)
def test_the_tokens_of_a_body_are_estimated(body: str, tokens: int) -> None:
    assert read("", body).tokens == tokens


KEYS = st.sampled_from(
    ["name", "description", "version", "triggers", "trigger", "tags", "requires", "allowed-tools", "metadata", "mcp"]
)
VALUES = st.sampled_from(
    [
        *("", "null", "x", "1.10", "a, b|c", "[a, b]", "[{a: b}]", "{a: {command: x}}", "{requires: {bins: [a]}}"),
        *("{openclaw: {requires: [a]}}", '{mcp-a: "\'x"}', "a: b", "*x", "[[[]]]", "{openclaw: '{'}", "'", "|"),
    ]
)


@settings(max_examples=200)
@given(st.lists(st.tuples(KEYS, VALUES | st.text(max_size=5)), max_size=6), st.text(max_size=10))
def test_any_skill_is_parsed_or_rejected_and_its_fields_are_typed(rows: list[tuple[str, str]], body: str) -> None:
    block = "\n".join(f"{key}: {value}" for key, value in rows)
    try:
        skill = read_skill(f"---\n{block}\n---\n{body}".encode("utf-8", "replace"))
    except NotLoadable:
        return
    needs = skill.requires
    lists = (skill.triggers, skill.tags, needs.bins, needs.notes, skill.allowed_tools)
    texts = (skill.declared, skill.description, skill.version, skill.body, *(word for words in lists for word in words))
    assert {type(text) for text in texts} == {str}
    assert skill.description == " ".join(skill.description.split())
