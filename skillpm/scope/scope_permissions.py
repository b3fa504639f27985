"""The permission rules of a scope: those of the manifest and of the user's configuration."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from skillpm.core.json_text.decoder import parse_toml
from skillpm.core.text import sanitize
from skillpm.files import read_text
from skillpm.formats.manifest import Manifest
from skillpm.formats.user_config import ServingSettings, read_serving
from skillpm.scope.effective_settings import load_manifest, read_user_setting, user_config_path
from skillpm.scope.scope import Scope, enclosing_projects, user_scope
from skillpm.scope.scope_policy import load_policies
from skillpm.serving.access_errors import SkillForbidden
from skillpm.serving.permission_files import parse_config_rules, parse_enabled_rule, parse_manifest_rules
from skillpm.serving.permissions import Layer, Rule, Rules
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.trust.policy import Policies


def load_rules(scope: Scope, settings: Settings) -> Rules:
    """Return the rules of a scope, without those of any profile."""
    scopes = visible_scopes(scope, settings)
    rules = combine_rules([load_manifest(each) for each in scopes], settings)
    return rules.replace(host_layers=(blocked_name_layer(load_policies(scopes, settings)),))


def blocked_name_layer(policies: "Policies | None") -> Layer:
    """Return the names that policies block as rules; of two that match a name, the first one is reported."""
    blocked = [] if policies is None else [each for layer in policies.layers for each in layer.blocked if each.name]
    return Layer(Rule(pattern=each.name, action="deny", where=each.where) for each in reversed(blocked))


def visible_scopes(scope: Scope, settings: Settings) -> tuple[Scope, ...]:
    """Return the scopes whose skills are visible in a scope, nearest first.

    In a project these are the projects around it, as `discover` has it, and user scope.
    """
    if scope.kind == "user":
        return (scope,)
    return (scope, *enclosing_projects(scope, settings), user_scope(settings))


def combine_rules(
    manifests: Iterable[Manifest], settings: Settings, profile: str = "", host_agents: Collection[str] = ()
) -> Rules:
    """Return the rules of the user's configuration and of the manifests; the strictest applies.

    `profile` is one of config.toml, or one of `host_agents`, whose rules are in the host's own files.
    """
    file, rules = user_config_path(settings), Rules()
    text = read_text(file)
    if text or profile:
        config = parse_toml(text or "", file)
        rules = rules.with_layer(parse_config_rules(config.value, file, profile, host_agents))
        rules = rules.with_layer(parse_enabled_rule(config))
    for manifest in manifests:
        rules = rules.with_layer(parse_manifest_rules(manifest.permissions, manifest.file))
    return rules


def load_serving_settings(settings: Settings) -> ServingSettings:
    """Return the user's settings for what agents get. Raises `DocumentError` for an invalid one."""
    node = read_user_setting(settings, "serving")
    return ServingSettings() if node is None else read_serving(node)


def refuse_denied(rules: Rules, name: str) -> None:
    """Raise `NotAllowedError` if a rule denies a name, whether or not there is such a skill."""
    decision = rules.decide(name)
    if decision.action == "deny":
        raise SkillForbidden(name, decision)


def unreachable_rule_messages(rules: Rules) -> list[str]:
    """Return a warning for each rule that never applies."""
    return [
        f"{sanitize(rule.where, 300)}: this rule never applies: `{sanitize(by.pattern, 80)}` after it matches "
        "the same names"
        for rule, by in rules.unreachable
    ]
