"""The rules of agent hosts, from the values of their documents; what the hosts do is measured in bench/."""

from collections.abc import Callable
from typing import Any

import pytest

from skillpm.core.json_text.decoder import JsonNode, parse_jsonc
from skillpm.errors import DocumentError
from skillpm.serving.host_rules.claude_code import build_claude_layer
from skillpm.serving.host_rules.opencode import Config, build_layer, merge, parse_agent_file, parse_config
from skillpm.serving.permissions import Rules

SKILLS = ("deploy", "deploy-prod", "pdf")


def opencode(*documents: dict[str, Any], agent: str = "") -> str:
    """Return the actions for `SKILLS` under merged documents."""
    config: Config = {}
    for document in documents:
        config = merge(config, parse_config(JsonNode(document, "opencode.json")))
    rules = Rules(host_layers=(build_layer(config, agent),))
    return " ".join(rules.decide(name).action for name in SKILLS)


def skill(**rules: str) -> dict[str, Any]:
    return {"permission": {"skill": rules}}


OPENCODE_CASES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "no rules": ([{}], "", "allow allow allow"),
    "one action for everything": ([{"permission": "deny"}], "", "deny deny deny"),
    "one action for skills": ([{"permission": {"skill": "ask"}}], "", "ask ask ask"),
    "a permission that is a pattern": ([{"permission": {"s*l": {"pdf": "deny"}}}], "", "allow allow deny"),
    "another permission": ([{"permission": {"bash": "deny", "skills": "deny"}}], "", "allow allow allow"),
    "the last permission wins": ([{"permission": {"skill": "deny", "*": "ask"}}], "", "ask ask ask"),
    "the last pattern wins": ([skill(**{"*": "deny", "pdf": "allow"})], "", "deny deny allow"),
    "a pattern with arguments": ([skill(**{"deploy *": "deny"})], "", "deny allow allow"),
    "`?` is one character": ([skill(**{"deploy?prod": "deny"})], "", "allow deny allow"),
    "an older switch": ([{"tools": {"skill": False}}], "", "deny deny deny"),
    "a permission beats a switch": ([{"tools": {"skill": False}} | skill(pdf="allow")], "", "allow allow allow"),
    "a later document loosens": ([skill(pdf="deny"), skill(pdf="allow")], "", "allow allow allow"),
    "documents are merged": ([skill(pdf="deny"), skill(deploy="ask")], "", "ask allow deny"),
    "a replaced rule keeps its place": ([skill(pdf="deny", **{"*": "ask"}), skill(pdf="allow")], "", "ask ask ask"),
    "a table replaces an action": ([{"permission": {"skill": "deny"}}, skill(pdf="ask")], "", "allow allow ask"),
    "numbers come first, as in JavaScript": ([skill(**{"*": "deny", "7": "allow", "pdf": "ask"})], "", "deny deny ask"),
    "the default agent is `build`": ([{"agent": {"build": skill(pdf="deny")}}], "", "allow allow deny"),
    "another default agent": (
        [{"default_agent": "plan", "agent": {"build": skill(pdf="deny"), "plan": skill(pdf="ask")}}], "",
        "allow allow ask",
    ),
    "`build` is disabled": (
        [{"agent": {"build": {"disable": True}, "plan": skill(pdf="ask")}}], "", "allow allow ask",
    ),
    "an agent comes after the general rules": (
        [skill(**{"*": "deny"}) | {"agent": {"rev": skill(pdf="allow")}}], "rev", "deny deny allow",
    ),
    "another agent's rules do not apply": ([{"agent": {"rev": skill(pdf="deny")}}], "plan", "allow allow allow"),
    "an unknown agent is the default one": ([{"agent": {"build": skill(pdf="deny")}}], "nobody", "allow allow deny"),
    "an agent's switch": ([{"agent": {"rev": {"tools": {"skill": False}}}}], "rev", "deny deny deny"),
    "a mode is an agent": ([{"mode": {"rev": skill(pdf="deny")}}], "rev", "allow allow deny"),
    "`explore` denies what is not allowed": ([skill(pdf="allow")], "explore", "deny deny allow"),
}  # fmt: skip


@pytest.mark.parametrize("case", OPENCODE_CASES)
def test_opencode_rules(case: str) -> None:
    documents, agent, actions = OPENCODE_CASES[case]

    assert opencode(*documents, agent=agent) == actions


@pytest.mark.parametrize(
    ("document", "message", "where"),
    [
        (
            {"permission": {"skill": {"pdf": "never"}}},
            'expected allow, ask or deny, got "never"',
            "permission.skill.pdf",
        ),
        ({"permission": {"skill": ["deny"]}}, "expected an object, got an array", "permission.skill"),
        ({"permission": True}, "expected an object, got true", "permission"),
        ({"agent": {"rev": {"permission": {"*": 1}}}}, "expected an object, got 1", "agent.rev.permission.*"),
        ({"agent": []}, "expected an object, got an array", "agent"),
        ({"permissions": []}, "OpenCode rejects `permissions`; its key for rules is `permission`", ""),
        (
            {"agent": {"rev": {"permissions": []}}},
            "OpenCode rejects `permissions`; its key for rules is `permission`",
            "agent.rev",
        ),
        ({"default_agent": "nobody"}, "unknown agent `nobody`", "default_agent"),
        (
            {"agent": {"build": {"disable": True}, "plan": {"hidden": True}}},
            "all primary agents of OpenCode are disabled",
            None,
        ),
    ],
)
def test_invalid_opencode_rules_are_an_error(document: dict[str, Any], message: str, where: str | None) -> None:
    with pytest.raises(DocumentError) as caught:
        opencode(document)

    expected = "" if where is None else f"opencode.json: {where}" if where else "opencode.json"
    assert (caught.value.message, caught.value.where) == (message, expected)


RULES = "permission:\n  skill:\n    pdf: deny\n"
PARSED = {"permission": {"skill": {"pdf": "deny"}}}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (f"---\n{RULES}---\nYou help.\n", PARSED),
        (f"\ufeff---\r\n{RULES}---\r\n", PARSED),
        (f"--- yaml\n{RULES}---", PARSED),
        (f"---\n{RULES}", PARSED),  # OpenCode reads an unclosed block to the end
        (f"---\ndescription: Use when: asked\n{RULES}---\n", {"description": "Use when: asked", **PARSED}),
        ("---\n---\nYou help.\n", {}),
        ("You help.\n", {}),
        (f"----\n{RULES}---\n", {}),
        (f"\n---\n{RULES}---\n", {}),
    ],
)
def test_frontmatter_of_an_agent(text: str, values: object) -> None:
    assert parse_agent_file(text, "a.md").value == values


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("---\na: [b\nc: d\n---\n", "invalid YAML: did not find expected ',' or ']'", "a.md:3"),
        ("---\na: b\n*: deny\n---\n", "invalid YAML: did not find expected alphabetic or numeric character", "a.md:3"),
        ("---json\n{}\n---\n", "frontmatter in `json` is not supported", "a.md:1"),
    ],
)
def test_frontmatter_that_cannot_be_read_is_an_error(text: str, message: str, where: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_agent_file(text, "a.md")

    assert (caught.value.message, caught.value.where) == (message, where)


@pytest.mark.parametrize(
    ("rules", "denied"),
    [
        (["Skill(pdf)"], "pdf"),
        (["Skill(/pdf)"], "pdf"),
        (["Skill(deploy:*)"], "deploy deploy-prod"),
        (["Skill(deploy *)"], "deploy deploy-prod"),
        (["Skill(skill:d*)"], "deploy deploy-prod"),
        (["Skill"], "deploy deploy-prod pdf"),
        (["Skill(*)"], "deploy deploy-prod pdf"),
        (["Skill()"], "deploy deploy-prod pdf"),
        (["*"], "deploy deploy-prod pdf"),
        (["Bash", "Bash(pdf)", "Skills", "Skill(pd)", "skill(pdf)"], ""),
    ],
)
def test_denied_by_claude_code(rules: list[str], denied: str) -> None:
    document = {"permissions": {"allow": ["Skill"], "deny": rules}}
    layer = build_claude_layer([JsonNode(document, "settings.json")])

    assert [name for name in SKILLS if Rules(host_layers=(layer,)).hides(name)] == denied.split()


def test_documents_of_claude_code_together() -> None:
    """A denial stays, in whichever document it is; of overrides the last one applies."""
    user = {"permissions": {"deny": ["Skill(pdf)"]}, "skillOverrides": {"deploy": "off", "deploy-prod": "name-only"}}
    project = {
        "permissions": {"ask": ["Skill"]},
        "skillOverrides": {"deploy": "on", "deploy-prod": "user-invocable-only"},
    }
    layer = build_claude_layer([JsonNode(user, "user.json"), JsonNode(project, "project.json")])

    decisions = [Rules(host_layers=(layer,)).decide(name) for name in SKILLS]
    assert [(decision.action, decision.rule and decision.rule.where) for decision in decisions] == [
        ("ask", "project.json: permissions.ask.0"),
        ("deny", "project.json: skillOverrides.deploy-prod"),
        ("deny", "user.json: permissions.deny.0"),
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"permissions": {"deny": "Skill"}}, 'expected an array, got "Skill"'),
        ({"permissions": {"deny": [1]}}, "expected a string, got 1"),
        ({"permissions": []}, "expected an object, got an array"),
        ({"skillOverrides": {"pdf": "hidden"}}, 'expected on, name-only, user-invocable-only or off, got "hidden"'),
        ({"skillOverrides": {"pdf": ["off"]}}, "expected on, name-only, user-invocable-only or off, got an array"),
    ],
)
def test_invalid_rules_of_claude_code_are_an_error(document: dict[str, Any], message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        build_claude_layer([JsonNode(document, "settings.json")])

    assert caught.value.message == message


@pytest.mark.parametrize("read", [parse_jsonc, parse_agent_file])
def test_a_large_configuration_is_an_error(read: Callable[[str, str], object]) -> None:
    with pytest.raises(DocumentError) as caught:
        read(" " * 1_000_001, "settings.json")

    message = "1,000,001 bytes; the configuration of a host may have at most 1,000,000"
    assert (caught.value.message, caught.value.where) == (message, "settings.json")
