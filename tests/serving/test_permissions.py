"""Permission rules: their order, and documents that contradict each other."""

from collections.abc import Callable

import pytest
from kit.growth import calls_of, growth_of_calls

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.limits import MAX_INNER_WILDCARDS
from skillpm.errors import DocumentError, NotFoundError
from skillpm.formats.trust.policy import read_policy
from skillpm.scope.scope_permissions import blocked_name_layer
from skillpm.serving.host_rules.glm import parse_glm_layers
from skillpm.serving.permission_files import parse_config_rules, parse_manifest_rules
from skillpm.serving.permissions import (
    Action,
    Layer,
    Rules,
    build_ordered_rules,
    build_unordered_rules,
)
from skillpm.trust.policy import Policies

GLM = {"git-release": "allow", "code-review": "allow", "experimental-*": "ask", "*": "allow"}
OPENCODE = {"code-review": "allow", "deploy-*": "deny"}


def of(*layers: Layer) -> Rules:
    return Rules(layers=layers)


def glm(agent: str = "", **config: object) -> Rules:
    """Return the rules of GLM's configuration for an agent."""
    return of(*parse_glm_layers(JsonNode(config, "config.toml"), agent))


CASES: dict[str, tuple[Rules, dict[str, Action]]] = {
    "no rules": (of(), {"pdf": "allow", "": "allow", "any thing": "allow"}),
    "OpenCode's example": (
        of(build_ordered_rules(OPENCODE)),
        {"code-review": "allow", "deploy-prod": "deny", "deploy-": "deny", "deploy": "allow", "redeploy-x": "allow"},
    ),
    "GLM's example, a table: its last line overrides nothing": (
        of(build_unordered_rules(GLM)),
        {"git-release": "allow", "experimental-x": "ask", "experimental": "allow", "x": "allow"},
    ),
    "the same rules in order: the last line overrides all": (
        of(build_ordered_rules(GLM)),
        {"git-release": "allow", "experimental-x": "allow", "x": "allow"},
    ),
    "deny all but one, in order": (
        of(build_ordered_rules({"*": "deny", "pdf": "allow"})),
        {"pdf": "allow", "pdf-forms": "deny", "docx": "deny"},
    ),
    "deny all but one, in reverse order: nothing remains": (
        of(build_ordered_rules({"pdf": "allow", "*": "deny"})),
        {"pdf": "deny", "docx": "deny"},
    ),
    "deny all but one, a table": (
        of(build_unordered_rules({"pdf": "allow", "*": "deny"})),
        {"pdf": "allow", "docx": "deny"},
    ),
    "a longer pattern comes after a shorter one": (
        of(build_unordered_rules({"deploy-prod-*": "deny", "deploy-*": "ask", "*": "allow"})),
        {"deploy-prod-eu": "deny", "deploy-test": "ask", "other": "allow"},
    ),
    "an exact name comes after every pattern": (
        of(build_unordered_rules({"deploy-prod": "allow", "deploy-prod*": "deny", "d*": "ask"})),
        {"deploy-prod": "allow", "deploy-prod2": "deny", "docs": "ask"},
    ),
    "of equally specific patterns the stricter wins": (
        of(build_unordered_rules({"ab*": "allow", "*ba": "deny"})),
        {"abba": "deny", "abc": "allow", "cba": "deny"},
    ),
    "`?` is one character": (
        of(build_ordered_rules({"v?": "deny"})),
        {"v1": "deny", "v": "allow", "v10": "allow", "vé": "deny"},
    ),
    "`*` matches `/` and `:`": (
        of(build_ordered_rules({"team*": "deny", "a/*/c": "ask"})),
        {"team/deploy": "deny", "team:x": "deny", "a/b/c": "ask", "a/b/b/c": "ask", "a/c": "allow"},
    ),
    "nothing else is special": (
        of(build_ordered_rules({"a[bc]": "deny", "x.y": "deny", "(": "ask", "a|b": "ask"})),
        {"a[bc]": "deny", "ab": "allow", "x.y": "deny", "xzy": "allow", "(": "ask", "a|b": "ask", "a": "allow"},
    ),
    "matching is case-sensitive": (of(build_ordered_rules({"Deploy": "deny"})), {"Deploy": "deny", "deploy": "allow"}),
    "an allow list leaves out the rest": (
        glm(allowedSkills=["pdf", "docx"]),
        {"pdf": "allow", "docx": "allow", "xlsx": "deny"},
    ),
    "a deny list beats the allow list": (
        glm(allowedSkills=["pdf", "docx"], deniedSkills=["pdf"]),
        {"pdf": "deny", "docx": "allow", "xlsx": "deny"},
    ),
    "lists and rules: the strictest": (
        glm(
            allowedSkills=["pdf", "docx"], deniedSkills=["docx"], skillPermissions={"pdf": "ask", "xlsx": "allow"},
        ),
        {"pdf": "ask", "docx": "deny", "xlsx": "deny"},
    ),
    "no lists": (glm(), {"pdf": "allow"}),
    "empty lists": (glm(allowedSkills=[], deniedSkills=[], skillPermissions={}), {"pdf": "allow"}),
    "the lists of an agent, beside those of all": (
        glm(
            "plan", deniedSkills=["x"], agents={"plan": {"allowedSkills": ["a", "x"]}, "build": {"deniedSkills": ["a"]}}
        ),
        {"a": "allow", "b": "deny", "x": "deny"},
    ),
    "without an agent, the lists of GLM's default agent": (
        glm(agents={"plan": {"allowedSkills": ["pdf"]}, "build": {"deniedSkills": ["pdf"]}}),
        {"pdf": "deny", "docx": "allow"},
    ),
    "an agent without lists has those of the default agent": (
        glm("other", agents={"build": {"deniedSkills": ["pdf"]}}), {"pdf": "deny", "docx": "allow"},
    ),
    "the strictest document wins, whichever comes first": (
        of(build_ordered_rules({"*": "ask"}), build_ordered_rules({"pdf": "allow", "docx": "deny"})),
        {"pdf": "ask", "docx": "deny", "xlsx": "ask"},
    ),
    "a document without a matching rule is ignored": (
        of(build_ordered_rules({"pdf": "allow"}), build_ordered_rules({"docx": "deny"})),
        {"pdf": "allow", "docx": "deny", "xlsx": "allow"},
    ),
    "a profile's rules come after the general ones": (
        of(parse_config_rules(
            {"permissions": {"deploy-prod": "allow"}, "permissions-for": {"build": {"deploy-*": "deny"}}},
            "config.toml", "build",
        )),
        {"deploy-prod": "deny", "deploy-x": "deny", "pdf": "allow"},
    ),
    "another profile's rules do not apply": (
        of(parse_config_rules({"permissions": {"*": "ask"}, "permissions-for": {"build": {"*": "deny"}, "plan": {}}},
                        "config.toml", "plan")),
        {"deploy-prod": "ask"},
    ),
    "GLM's table": (glm(skill_permissions=GLM), {"experimental-x": "ask", "x": "allow"}),
    "GLM's table, where the documentation of its code has it": (
        glm(skills={"skill_permissions": GLM | {"pdf": "deny"}}),
        {"experimental-x": "ask", "x": "allow", "pdf": "deny"},
    ),
    "the strictest of GLM's tables": (
        glm(skill_permissions={"*": "ask"}, skills={"skill_permissions": {"pdf": "deny"}}), {"pdf": "deny", "x": "ask"},
    ),
    "GLM's list of patterns: what it does not name is allowed": (
        glm(behavior={"skill_permissions": ["git-*"]}), {"git-release": "allow", "pdf": "allow"},
    ),
    "GLM's list of patterns: only the pattern `deny` denies, after no other": (
        glm(behavior={"skill_permissions": ["deny"]}), {"deny": "deny", "pdf": "allow"},
    ),
    "GLM's list of patterns: the first match applies": (
        glm(behavior={"skill_permissions": ["*", "deny"]}), {"deny": "allow", "pdf": "allow"},
    ),
    "a table in the place of that list": (
        glm(behavior={"skill_permissions": {"git-*": "deny", "git-release": "allow"}}),
        {"git-x": "deny", "git-release": "allow", "pdf": "allow"},
    ),
}  # fmt: skip
ROWS = [(case, name, action) for case, (_, names) in CASES.items() for name, action in names.items()]


def test_matrix_is_large_enough() -> None:
    assert len(ROWS) >= 60


@pytest.mark.parametrize(("case", "name", "action"), ROWS)
def test_action_for_a_name(case: str, name: str, action: Action) -> None:
    assert CASES[case][0].decide(name).action == action


def test_decision_names_its_rule() -> None:
    rules = of(build_ordered_rules({"*": "allow", "deploy-*": "deny"}, "skills.json: permissions"))

    decision = rules.decide("deploy-prod")

    assert decision.rule is not None
    assert (decision.rule.pattern, decision.rule.where) == ("deploy-*", "skills.json: permissions.deploy-*")
    assert of().decide("pdf").rule is None


@pytest.mark.parametrize(
    ("rules", "silenced"),
    [
        (GLM, {"git-release": "*", "code-review": "*", "experimental-*": "*"}),
        ({"*": "deny", "pdf": "allow"}, {}),
        ({"a-b-*": "deny", "a-*": "allow"}, {"a-b-*": "a-*"}),
        ({"a-*": "deny", "a-b-*": "allow"}, {}),
        ({"a?": "deny", "a*": "allow"}, {"a?": "a*"}),
        ({"a*": "deny", "a?": "allow"}, {}),
        ({"*x": "deny", "?x": "allow"}, {}),
    ],
)
def test_unreachable_rule_is_found(rules: dict[str, str], silenced: dict[str, str]) -> None:
    found = of(build_ordered_rules(rules)).unreachable

    assert {rule.pattern: by.pattern for rule, by in found} == silenced


@pytest.mark.parametrize("pattern", ["team-{}-*", "team-{}", "*-team-{}"])
def test_twice_the_rules_take_twice_the_calls(pattern: str) -> None:
    """To find rules that never apply, they are compared only with those with wildcards in the middle, which are few."""
    wide = {f"a*{number}": "deny" for number in range(MAX_INNER_WILDCARDS)}

    def work(number: int) -> None:
        rules = of(build_ordered_rules({pattern.format(each): "ask" for each in range(number)} | wide))
        assert rules.unreachable == ()
        assert rules.decide("none").action == "allow"

    assert growth_of_calls(work, 300) < 2.3


def test_eight_hundred_rules_compile_a_pattern_each_at_most() -> None:
    rules = of(build_ordered_rules({f"team-{number}-*": "ask" for number in range(800)}))

    assert calls_of(lambda: (rules.unreachable, rules.decide("none"))) < 800 * 40


@pytest.mark.parametrize(
    "read", [parse_manifest_rules, lambda rules, file: parse_config_rules({"permissions": rules}, file)]
)
def test_more_rules_than_are_allowed_are_an_error(read: Callable[[dict[str, str], str], object]) -> None:
    with pytest.raises(DocumentError) as caught:
        read({f"team-{number}": "ask" for number in range(5_001)}, "rules")

    message = "5,001 patterns; at most 5,000 are allowed"
    assert (caught.value.message, caught.value.where) == (message, "rules: permissions")


def test_names_that_a_policy_blocks_are_one_layer_of_which_none_is_reported() -> None:
    text = 'version = 1\n[[blocked]]\nname = "evil*"\nreason = "a"\n[[blocked]]\nname = "evil-1"\nreason = "b"\n'
    rules = Rules(host_layers=(blocked_name_layer(Policies(layers=(read_policy(text, "p.toml"),))),))

    decision = rules.decide("evil-1")
    assert decision.rule is not None
    assert (decision.action, decision.rule.where, rules.unreachable) == ("deny", "p.toml: blocked.0", ())


def test_unordered_rules_are_all_reachable() -> None:
    assert of(build_unordered_rules(GLM)).unreachable == ()


def test_hostile_pattern_is_fast() -> None:
    rules = of(build_ordered_rules({"*a" * 200 + "b": "deny"}))

    assert rules.decide("a" * 5_000).action == "allow"


def test_unknown_profile_is_an_error() -> None:
    with pytest.raises(NotFoundError) as caught:
        parse_config_rules({"permissions-for": {"build": {}}}, "config.toml", "biuld")

    error = caught.value
    assert (error.message, error.hint) == (
        "unknown profile `biuld`",
        "define it as a table `[permissions-for.NAME]`; known profiles: build",
    )


@pytest.mark.parametrize("value", ["yes", True, 1, None, ["deny"], {"a": "deny"}])
def test_invalid_action_is_an_error_with_its_location(value: object) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_config_rules({"permissions": {"pdf": value}}, "config.toml")

    assert caught.value.where == "config.toml: permissions.pdf"
