"""Rules as documents spell them: the user's `config.toml`, a manifest, and the hosts' own files. Pure."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.text import show
from skillpm.errors import DocumentError, NotFoundError
from skillpm.serving.permissions import Layer, by_specificity, is_action, ordered

GENERAL, FOR_PROFILES = "permissions", "permissions-for"


def config_rules(config: Mapping[str, Any], file: str, profile: str = "") -> Layer:
    """Give the rules of a `config.toml`: `[permissions]`, and behind them those of `[permissions-for.PROFILE]`.

    Raises `DocumentError` for anything but patterns with one of the three words, `NotFoundError` for a profile that
    is not there: a mistyped one would silently allow.
    """
    rules = by_specificity(_table(config.get(GENERAL, {}), f"{file}: {GENERAL}"), f"{file}: {GENERAL}")
    if not profile:
        return rules
    profiles = config.get(FOR_PROFILES, {})
    if not isinstance(profiles, dict) or profile not in profiles:
        known = ", ".join(map(show, profiles)) if isinstance(profiles, dict) and profiles else "none"
        raise NotFoundError(
            f"there is no profile `{show(profile, 60)}`",
            where=file,
            hint=f"profiles are tables `[{FOR_PROFILES}.NAME]`; known: {known}",
        )
    where = f"{file}: {FOR_PROFILES}.{profile}"
    return (*rules, *by_specificity(_table(profiles[profile], where), where))


def manifest_rules(permissions: Mapping[str, str], file: str) -> Layer:
    """Give the rules of a manifest, in its order."""
    return ordered(permissions, f"{file}: {GENERAL}")


def opencode_rules(config: Any, file: str) -> Layer:
    """Give the rules of an `opencode.json` or of an agent's frontmatter: `permission.skill`, a word or patterns."""
    permission = config.get("permission") if isinstance(config, dict) else None
    if is_action(permission):
        return ordered({"*": str(permission)}, f"{file}: permission")
    rules: Any = permission.get("skill", {}) if isinstance(permission, dict) else {}
    where = f"{file}: permission.skill"
    return ordered({"*": rules} if isinstance(rules, str) and is_action(rules) else _table(rules, where), where)


def glm_rules(config: Any, file: str) -> Layer:
    """Give the rules of GLM's configuration: the table `[skill_permissions]`, whose order does not count."""
    rules = config.get("skill_permissions", {}) if isinstance(config, dict) else {}
    return by_specificity(_table(rules, f"{file}: skill_permissions"), f"{file}: skill_permissions")


def _table(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise DocumentError("expected a table of patterns", where=where)
    for pattern, action in value.items():
        if not is_action(action):
            said = show(str(action), 40)
            raise DocumentError(f"expected allow, ask or deny, got {said}", where=f"{where}.{show(pattern, 80)}")
    return value
