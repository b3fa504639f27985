"""Which rules count in a scope: those of the manifest and of the user's configuration."""

from collections.abc import Iterable
from typing import Any

from skillpm.core.decoder import not_toml
from skillpm.core.text import show
from skillpm.files import read_text
from skillpm.formats.manifest import Manifest, read_manifest
from skillpm.operations.context.scope import Scope, user_scope
from skillpm.operations.context.scope_settings import config_file
from skillpm.serving.access_errors import Forbidden
from skillpm.serving.permission_files import config_rules, manifest_rules
from skillpm.serving.permissions import Rules
from skillpm.settings import Settings


def manifest_of(scope: Scope) -> Manifest:
    """Give the manifest of a scope; an empty one where there is none."""
    text = read_text(scope.manifest)
    return Manifest(file=scope.manifest) if text is None else read_manifest(text, scope.manifest)


def rules_here(scope: Scope, settings: Settings) -> Rules:
    """Give the rules that count in a scope, without those of any profile."""
    return rules_of([manifest_of(each) for each in scopes_seen(scope, settings)], settings)


def scopes_seen(scope: Scope, settings: Settings) -> tuple[Scope, ...]:
    """Give the scopes whose skills are seen from one, the nearest first: in a project the user's own are, too."""
    return (scope,) if scope.kind == "user" else (scope, user_scope(settings))


def rules_of(manifests: Iterable[Manifest], settings: Settings, profile: str = "") -> Rules:
    """Give the rules that count: those of the user's configuration, and the manifests'; of all the strictest."""
    file = config_file(settings)
    config = _config(file)
    rules = Rules().with_layer(config_rules(config, file, profile)) if config or profile else Rules()
    for manifest in manifests:
        rules = rules.with_layer(manifest_rules(manifest.permissions, manifest.file))
    return rules


def refuse_denied(rules: Rules, name: str) -> None:
    """Raise `NotAllowedError` where a rule denies a name, whether there is such a skill or not."""
    decision = rules.decide(name)
    if decision.action == "deny":
        raise Forbidden(name, decision)


def silent_rules(rules: Rules) -> list[str]:
    """Tell of the rules that never count."""
    return [
        f"{show(rule.where, 300)}: this rule never counts: `{show(by.pattern, 80)}` behind it takes all its names"
        for rule, by in rules.unreachable
    ]


def _config(path: str) -> dict[str, Any]:
    text = read_text(path)
    if text is None:
        return {}
    import tomllib  # noqa: PLC0415  (most users have no config.toml)

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise not_toml(error, path) from error
