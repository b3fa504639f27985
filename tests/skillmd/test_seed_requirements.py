"""The requirements for SKILL.md loaders: one test for each, and for each contradiction settled."""

from typing import Any

import pytest

from skillpm.core.names import find_skill_file
from skillpm.core.system_requirements import SystemRequirements
from skillpm.registry.entry import build_entry
from skillpm.serving.renderers.body_modes import MAX_LENGTH, TRUNCATED_NOTE, truncate
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import McpServer, Skill, read_skill
from skillpm.skillmd.validation import ValidationReport, validate_skill


def read(text: str) -> Skill:
    return read_skill(text.encode())


def head(block: str) -> Skill:
    return read(f"---\n{block}\n---\n")


def judged(block: str, folder: str = "x") -> ValidationReport:
    return validate_skill(f"---\n{block}\n---\nBody.\n".encode(), folder, ["SKILL.md"])


def codes(skill: Skill | ValidationReport) -> list[str]:
    return [finding.code for finding in skill.findings]


def entry(block: str) -> dict[str, Any]:
    return dict(build_entry("x", "x/SKILL.md", f"---\n{block}\n---\n".encode(), pin=None, digest=None))


def refused(text: str) -> str:
    with pytest.raises(NotLoadable) as caught:
        read(text)
    return caught.value.finding.message


# The file


def test_r20_a_folder_is_one_skill_and_a_nested_one_is_reported() -> None:
    verdict = validate_skill(
        b"---\nname: x\ndescription: d\n---\nb\n", "x", ["SKILL.md", "in/SKILL.md", "in/deep/skill.md"]
    )
    assert (verdict.valid, codes(verdict)) == (True, ["nested-skill", "nested-skill"])


def test_r21_yaml_is_between_fences_at_the_start() -> None:
    assert read("---\nname: x\n---\nBody\n").declared == "x"
    assert refused("Words.\n---\nname: x\n---\n") == "the file does not begin with a `---` line"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_r22_fences_may_have_any_line_ending(ending: str) -> None:
    skill = read(ending.join(["---", "name: x", "---", "one", "two"]))
    assert (skill.declared, skill.body) == ("x", "one\ntwo")


def test_r23_spaces_after_a_fence_are_accepted() -> None:
    assert read("---  \t\nname: x\n---  \nb").declared == "x"


def test_r24_white_space_before_the_first_fence_is_ignored() -> None:
    assert read("\n \t\n---\nname: x\n---\nb").declared == "x"


@pytest.mark.parametrize(
    "block",
    ['name = "x"\nrequires = ["a", "b"]\nversion = "1.10"', "name: x\nrequires: [a, b]\nversion: 1.10"],
    ids=["toml", "yaml"],
)
def test_r25_x8_the_dialect_is_that_of_the_block(block: str) -> None:
    skill = head(block)
    assert (skill.declared, skill.requires.bins, skill.version) == ("x", ("a", "b"), "1.10")


@pytest.mark.parametrize("text", ["+++\nname = 'x'\n+++\n", "---toml\nname = 'x'\n---\n"])
def test_x8_toml_may_have_fences_of_its_own(text: str) -> None:
    assert read(text).declared == "x"


@pytest.mark.parametrize("word", ["js", "javascript", "coffee", "json", "cson"])
def test_x8_any_other_language_is_refused_and_never_evaluated(word: str) -> None:
    assert refused(f"---{word}\n({{name: process.exit(1)}})\n---\n") == f"frontmatter in `{word}` is not supported"


PLAYWRIGHT = (McpServer(name="playwright", command="npx", args=("@playwright/mcp", "--headless")),)


def test_r26_servers_are_tables_in_toml() -> None:
    block = '[mcp.playwright]\ncommand = "npx"\nargs = ["@playwright/mcp", "--headless"]'
    assert head(f'name = "x"\n{block}').mcp_servers == PLAYWRIGHT
    assert entry(f'name = "x"\n{block}')["mcpServers"] == {
        "playwright": {"command": "npx", "args": ["@playwright/mcp", "--headless"]}
    }


def test_r27_servers_are_lines_in_yaml() -> None:
    assert head("name: x\nmcp-playwright: npx @playwright/mcp --headless").mcp_servers == PLAYWRIGHT


def test_r28_inline_lists_may_have_quotes() -> None:
    assert head("tags: [a, 'b c', \"d\"]").tags == ("a", "b c", "d")


def test_r29_quotes_around_a_value_are_removed() -> None:
    skill = head("name: 'x'\nversion: \"1\"\nauthor: '''")
    assert (skill.declared, skill.version, skill.author) == ("x", "1", "'")


def test_r30_the_body_is_everything_after_the_closing_fence() -> None:
    assert read("---\nname: x\n---\n\nOne.\n---\nTwo.\n").body == "\nOne.\n---\nTwo.\n"
    assert read("---\nname: x\n---").body == ""


def test_r31_a_file_without_frontmatter_is_rejected_with_the_reason() -> None:
    assert refused("# Title\n\nWords.\n") == "the file does not begin with a `---` line"


def test_r32_unrecoverable_yaml_is_rejected_with_the_reason() -> None:
    assert refused("---\n[unclosed\n---\n") == "invalid YAML frontmatter: did not find expected ',' or ']'"


def test_r33_x6_a_name_is_required_for_validity_but_not_for_loading() -> None:
    assert codes(head("description: d")) == ["missing-name"]
    assert (judged("description: d").loadable, judged("description: d").valid) == (True, False)


@pytest.mark.parametrize("value", ["Use this: it is good", "a: b: c", "http://x: y"])
def test_r34_x10_a_value_with_a_colon_is_read_without_a_line_end(value: str) -> None:
    skill = head(f"name: x\ndescription: {value}")
    assert (skill.description, codes(skill)) == (value, ["frontmatter-repaired"])


def test_r35_x9_no_other_value_is_changed_by_a_repair() -> None:
    block = (
        "name: x\n# a: b: c\n\nnested:\n  deep: d\nempty:\nfolded: >\n  a: b\nkept: |\n  a: b\nq: \"a: b\"\nr: 'a: b'\n"
        'metadata: {"openclaw": {"emoji": "x"}}\nargument-hint: a: b'
    )
    skill = head(block)
    assert skill.extra == {
        "nested": {"deep": "d"},
        "empty": None,
        "folded": "a: b\n",
        "kept": "a: b\n",
        "q": "a: b",
        "r": "a: b",
        "argument-hint": "a: b",
    }
    assert skill.metadata == {"openclaw": {"emoji": "x"}}
    assert codes(skill) == ["frontmatter-repaired", "missing-description"]


def test_r36_the_fields_of_the_specification() -> None:
    skill = head("name: x\ndescription: d\nlicense: MIT\ncompatibility: any\nmetadata: {a: b}\nallowed-tools: Read")
    assert (skill.declared, skill.description, skill.license, skill.compatibility) == ("x", "d", "MIT", "any")
    assert (skill.metadata, skill.allowed_tools, skill.extra) == ({"a": "b"}, ("Read",), {})


def test_r37_the_fields_of_others() -> None:
    skill = head("requires: [a]\nhomepage: https://x\ntrigger: a|b\nmcp-s: run")
    assert (skill.requires.bins, skill.homepage, skill.triggers) == (("a",), "https://x", ("a", "b"))
    assert skill.mcp_servers == (McpServer(name="s", command="run"),)


def test_r38_missing_fields_are_empty() -> None:
    skill = head("name: x\ndescription: d")
    assert (skill.requires, skill.triggers, skill.mcp_servers, skill.findings) == (SystemRequirements(), (), (), ())


def test_r39_programs_are_found_in_the_metadata_of_a_host() -> None:
    block = 'name: x\nmetadata: {"openclaw": {"requires": {"bins": ["a", "b"]}}}'
    assert head(block).requires.bins == ("a", "b")
    assert entry(block)["requires"] == ["a", "b"]
    assert head(f"{block}\nrequires: [c]").requires.bins == ("c",)


def test_r40_the_first_colon_separates_key_and_value() -> None:
    assert head("homepage: https://x.example:8080/a:b").homepage == "https://x.example:8080/a:b"


def test_r41_an_unknown_field_is_kept() -> None:
    skill = head("name: x\ndescription: d\nfuture: [a, {b: c}]")
    assert (skill.extra, skill.findings) == ({"future": ["a", {"b": "c"}]}, ())


def test_r42_x7_a_name_that_differs_from_the_folder_loads_but_is_invalid() -> None:
    verdict = judged("name: gog\ndescription: d", folder="google-workspace")
    assert (verdict.declared, verdict.loadable, verdict.valid, codes(verdict)) == (
        "gog",
        True,
        False,
        ["name-not-folder"],
    )
    assert entry("name: gog\ndescription: d")["declaredName"] == "gog"


def test_r43_metadata_can_be_filtered_by() -> None:
    assert entry("metadata: {audience: developers, level: '2'}")["metadata"] == {"audience": "developers", "level": "2"}


def test_r45_an_error_has_a_message_and_a_line() -> None:
    with pytest.raises(NotLoadable) as caught:
        read("---\nname: x\n---\n\0")
    assert (caught.value.finding.code, caught.value.finding.line, str(caught.value)) == (
        "nul",
        4,
        "the file contains a NUL character",
    )


def test_r46_a_registry_has_no_body() -> None:
    found = build_entry("x", "x/SKILL.md", b"---\ndescription: d\n---\nA secret recipe.\n", pin=None, digest=None)
    assert "secret" not in str(found)


# Contradictions


def test_x6_a_description_is_required_for_validity_but_not_for_loading() -> None:
    assert codes(head("name: x")) == ["missing-description"]
    assert judged("name: x").valid is False


@pytest.mark.parametrize("value", ["{a: {b: [c]}}", '\'{"a": {"b": ["c"]}}\''])
def test_x11_metadata_stays_nested_and_may_be_json_in_text(value: str) -> None:
    assert head(f"metadata: {value}").metadata == {"a": {"b": ["c"]}}


@pytest.mark.parametrize("value", ["audience:developers, level:2", "audience: developers, level: 2"])
def test_x11_metadata_may_be_one_line_of_pairs(value: str) -> None:
    assert head(f"metadata: {value}").metadata == {"audience": "developers", "level": "2"}


@pytest.mark.parametrize("value", ["just words", "[a, b]", "'[1]'", "a:b, c"])
def test_x11_any_other_metadata_is_kept_unchanged(value: str) -> None:
    skill = head(f"metadata: {value}")
    assert (skill.metadata, list(skill.extra)) == ({}, ["metadata"])


def test_x12_compatibility_is_free_text() -> None:
    assert head("compatibility: Needs  git,\n  and a network").compatibility == "Needs git, and a network"


def test_x13_only_what_is_shaped_like_a_command_is_a_program() -> None:
    needs = head("requires: [git, Active account at x.example, 'click>=8']").requires
    assert needs == SystemRequirements(bins=("git",), notes=("Active account at x.example", "click>=8"))


@pytest.mark.parametrize(
    ("requires", "needs"),
    [
        ("{bins: [_no_tool]}", SystemRequirements(bins=("_no_tool",))),
        ("_a b", SystemRequirements(bins=("_a", "b"))),
        ("[_, __]", SystemRequirements(notes=("_", "__"))),
    ],
)
def test_r130_a_program_may_begin_with_an_underscore(requires: str, needs: SystemRequirements) -> None:
    assert head(f"requires: {requires}").requires == needs


def test_x13_dependencies_on_skills_are_not_read_from_requires_or_dependencies() -> None:
    skill = head("requires: {skills: [other]}\ndependencies: [requests]")
    assert skill.requires == SystemRequirements(notes=("skills: other",))
    assert skill.extra == {"dependencies": ["requests"]}


@pytest.mark.parametrize(
    "block", ["trigger: a|b c", "triggers: [a, b c]", "triggers: a, b c", "triggers: {keywords: [a, b c]}"]
)
def test_x14_trigger_and_triggers_are_one_list(block: str) -> None:
    assert head(block).triggers == ("a", "b c")


@pytest.mark.parametrize("name", ["Deploy Staging", "deploy/staging", "plugin:skill", "UPPER", "a_b", "-a", "a--b"])
def test_x30_the_declared_name_is_kept_and_only_the_grammar_is_valid(name: str) -> None:
    assert head(f"name: {name}\ndescription: d").declared == name
    assert "bad-name" in codes(judged(f"name: {name}\ndescription: d", folder=name))


@pytest.mark.parametrize("name", ["größe", "café", "技能", "con"])
def test_x30_a_name_that_is_not_installed_is_not_valid(name: str) -> None:
    verdict = judged(f"name: {name}\ndescription: d", folder=name)
    assert (verdict.valid, codes(verdict)) == (False, ["unportable-name"])


def test_x31_a_body_is_cut_after_its_frontmatter_and_never_inside_a_character() -> None:
    body = read(f"---\nname: x\n---\n{'😀' * (MAX_LENGTH + 5)}").body
    assert truncate(body) == ("😀" * MAX_LENGTH + TRUNCATED_NOTE, True)


def test_x32_the_file_name_may_be_lower_case_and_upper_case_is_preferred() -> None:
    verdict = validate_skill(b"---\nname: x\ndescription: d\n---\nb\n", "x", ["skill.md"])
    assert (verdict.valid, codes(verdict)) == (True, ["file-name"])
    assert find_skill_file(["skill.md", "SKILL.md"]) == "SKILL.md"
    assert find_skill_file(["a/skill.md", "SKILL.md"], "a/") == "a/skill.md"
    assert find_skill_file(["Skill.md"]) is None


def advice(block: str, body: str = "Body.") -> list[tuple[int, str, str]]:
    report = validate_skill(f"---\nname: x\n{block}\n---\n{body}\n".encode(), "x", ["SKILL.md"])
    return [(finding.line, finding.code, finding.message) for finding in report.findings if finding.level == "warning"]


def test_text_that_yaml_takes_for_a_comment_is_reported() -> None:
    message = "`#{}` is a comment in YAML; to keep it, put the description in quotes"

    assert advice("description: Fix issue #12 fast") == [(3, "comment-in-text", message.format("12 fast"))]
    assert advice("description: Fix\n  an issue # or two\nmetadata:\n  a: b") == [
        (4, "comment-in-text", message.format(" or two"))
    ]
    for block in (
        "description: 'Fix issue #12'",
        "description: Fix C# and#more",
        "description: |\n  Fix issue #12\n  fast",
        "description: 'Fix' # note",
        "description: Fix\nmetadata: # note\n  a: Fix # note",
        "# description: Fix # note\ndescription: Fix",
    ):
        assert advice(block) == []


def test_an_object_among_the_triggers_is_reported() -> None:
    message = "`search: …` is not text; put the trigger in quotes"

    assert ("unread-trigger", message) in [
        (code, text) for _, code, text in advice("description: d\ntriggers:\n- search: find\n- pattern: a\n- b")
    ]


def test_a_code_block_that_is_never_closed_is_reported() -> None:
    message = "this code block is never closed, so hosts may take everything below it for code"

    assert advice("description: d", "```\na\n```\n~~~\nb") == [(8, "unclosed-code", message)]
