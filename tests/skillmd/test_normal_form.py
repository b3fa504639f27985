"""Normalization of fields is idempotent, and no bytes crash the parser."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.coercion import to_metadata, to_tools, to_triggers, to_words
from skillpm.core.system_requirements import SystemRequirements, read_system_requirements
from skillpm.core.text import HIDDEN
from skillpm.skillmd.autofix import fix
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import Skill, read_mcp_servers, read_skill
from skillpm.skillmd.validation import validate_skill

MANY = settings(max_examples=400)

# What a reader of YAML or TOML gives: text, nothing, lists and objects of these; and the words that mean something.
WORDS = st.sampled_from(
    [
        *(
            "git",
            "git, gh",
            "a|b c",
            "Bash(git:*), Read",
            "Bash(a (b) c",
            "- x",
            "[a, 'b']",
            '{"bins": ["a"]}',
            "A_B C",
        ),
        *(
            "npx -y 'a b'",
            "run;rm",
            "'open",
            "a:b, c:d",
            "Needs a key",
            "1.10",
            "",
            " ",
            "größe",
            "\u200b",
            "a\nb",
            "|,",
        ),
    ]
)
KEYS = st.sampled_from(
    [
        *("bins", "anyBins", "any_bins", "env", "config", "os", "mcp", "notes", "skills", "requires", "openclaw"),
        *("keywords", "pattern", "command", "args", "mcp-a", "name", "x y", ""),
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | WORDS | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def written(needs: SystemRequirements) -> dict[str, Any]:
    return {
        "bins": list(needs.bins),
        "anyBins": list(needs.any_bins),
        "env": list(needs.env),
        "config": list(needs.config),
        "os": list(needs.os),
        "mcp": list(needs.mcp),
        "notes": list(needs.notes),
    }


@MANY
@given(VALUES)
def test_words_triggers_and_tools_are_normalized_once(value: Any) -> None:
    for normalise in (to_words, to_triggers, to_tools):
        once = normalise(value)
        assert normalise(list(once)) == once
        assert all(word and word == word.strip() for word in once)


@MANY
@given(VALUES, VALUES)
def test_requirements_are_normalized_once(value: Any, host: Any) -> None:
    once = read_system_requirements(value, {"openclaw": host, "clawdbot": value})
    assert read_system_requirements(written(once), {}) == once


@MANY
@given(VALUES)
def test_metadata_is_normalized_once(value: Any) -> None:
    once = to_metadata(value)
    assert once is None or to_metadata(dict(once)) == once


@MANY
@given(st.dictionaries(KEYS, VALUES, max_size=4), st.dictionaries(KEYS, VALUES, max_size=4))
def test_servers_are_normalized_once(values: dict[str, Any], metadata: dict[str, Any]) -> None:
    findings: list[Finding] = []
    once = read_mcp_servers(values, metadata, findings)
    table = {server.name: {"command": server.command, "args": list(server.args)} for server in once}
    again: list[Finding] = []
    assert (read_mcp_servers({"mcp": table}, {}, again), again) == (once, [])


PIECES = st.sampled_from(
    [
        *(b"---\n", b"---", b"+++\n", b"---js\n", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\0", b"\xff", b"\xe2\x80", b"\n"),
        *(b"name: x\n", b"description: a: b\n", b"version: [1\n", b"a: &b *c\n", b"requires: {", b"tags: 'x\n", b"#"),
        *(
            b"metadata:\n",
            b"  openclaw: '{'\n",
            b"mcp-a: $(x)\n",
            b"[a](b)",
            b"!`x`",
            b"```\n",
            b"\xe2\x80\xae",
            b"a = 1\n",
        ),
    ]
)


@MANY
@given(st.lists(PIECES | st.binary(max_size=8), max_size=12).map(b"".join), st.sampled_from(["x", "X y", "", "größe"]))
def test_no_bytes_crash_the_parser(data: bytes, folder: str) -> None:
    verdict = validate_skill(data, folder, ["SKILL.md", "b"])
    assert [finding for finding in verdict.findings if HIDDEN.search(finding.message) or finding.line < 1] == []
    assert fix(fix(data, folder).data, folder).fixes == ()
    assert verdict.loadable == (read(data) is not None)


def read(data: bytes) -> Skill | None:
    try:
        return read_skill(data)
    except NotLoadable:
        return None
