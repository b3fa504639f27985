"""Which rules count in a scope: those of the manifest and of the user's configuration."""

from collections.abc import Iterable
from typing import Any

from skillpm.core.decoder import toml_error
from skillpm.core.text import sanitize
from skillpm.files import read_text
from skillpm.formats.manifest import Manifest, read_manifest
from skillpm.operations.context.scope import Scope, user_scope
from skillpm.operations.context.scope_settings import user_config_path
from skillpm.serving.access_errors import SkillForbidden
from skillpm.serving.permission_files import parse_config_rules, parse_manifest_rules
from skillpm.serving.permissions import Rules
from skillpm.settings import Settings


def load_manifest(scope: Scope) -> Manifest:
    """Give the manifest of a scope; an empty one where there is none."""
    text = read_text(scope.manifest)
    return Manifest(file=scope.manifest) if text is None else read_manifest(text, scope.manifest)


def load_rules(scope: Scope, settings: Settings) -> Rules:
    """Give the rules that count in a scope, without those of any profile."""
    return combine_rules([load_manifest(each) for each in visible_scopes(scope, settings)], settings)


def visible_scopes(scope: Scope, settings: Settings) -> tuple[Scope, ...]:
    """Give the scopes whose skills are seen from one, the nearest first: in a project the user's own are, too."""
    return (scope,) if scope.kind == "user" else (scope, user_scope(settings))


def combine_rules(manifests: Iterable[Manifest], settings: Settings, profile: str = "") -> Rules:
    """Give the rules that count: those of the user's configuration, and the manifests'; of all the strictest."""
    file = user_config_path(settings)
    config = _read_config(file)
    rules = Rules().with_layer(parse_config_rules(config, file, profile)) if config or profile else Rules()
    for manifest in manifests:
        rules = rules.with_layer(parse_manifest_rules(manifest.permissions, manifest.file))
    return rules


def refuse_denied(rules: Rules, name: str) -> None:
    """Raise `NotAllowedError` where a rule denies a name, whether there is such a skill or not."""
    decision = rules.decide(name)
    if decision.action == "deny":
        raise SkillForbidden(name, decision)


def unreachable_rule_messages(rules: Rules) -> list[str]:
    """Tell of the rules that never count."""
    return [
        f"{sanitize(rule.where, 300)}: this rule never counts: `{sanitize(by.pattern, 80)}` behind it takes all its names"
        for rule, by in rules.unreachable
    ]


def _read_config(path: str) -> dict[str, Any]:
    text = read_text(path)
    if text is None:
        return {}
    import tomllib  # noqa: PLC0415  (most users have no config.toml)

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise toml_error(error, path) from error
