"""Parse permission rules from the user's `config.toml`, a manifest, and the hosts' own files. Pure."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, NotFoundError
from skillpm.serving.permissions import Layer, build_ordered_rules, build_unordered_rules, is_action

PERMISSIONS_KEY, PROFILE_PERMISSIONS_KEY = "permissions", "permissions-for"


def parse_config_rules(config: Mapping[str, Any], file: str, profile: str = "") -> Layer:
    """Return the rules of a `config.toml`: `[permissions]`, followed by `[permissions-for.PROFILE]`.

    Raises `DocumentError` for anything but patterns with `allow`, `ask` or `deny`, and `NotFoundError` for an unknown
    profile: a typo in its name would otherwise silently allow everything.
    """
    rules = build_unordered_rules(
        _check_table(config.get(PERMISSIONS_KEY, {}), f"{file}: {PERMISSIONS_KEY}"), f"{file}: {PERMISSIONS_KEY}"
    )
    if not profile:
        return rules
    profiles = config.get(PROFILE_PERMISSIONS_KEY, {})
    if not isinstance(profiles, dict) or profile not in profiles:
        known = ", ".join(map(sanitize, profiles)) if isinstance(profiles, dict) and profiles else "none"
        raise NotFoundError(
            f"unknown profile `{sanitize(profile, 60)}`",
            where=file,
            hint=f"define it as a table `[{PROFILE_PERMISSIONS_KEY}.NAME]`; known profiles: {known}",
        )
    where = f"{file}: {PROFILE_PERMISSIONS_KEY}.{profile}"
    return (*rules, *build_unordered_rules(_check_table(profiles[profile], where), where))


def parse_manifest_rules(permissions: Mapping[str, str], file: str) -> Layer:
    """Return the rules of a manifest, in its order."""
    return build_ordered_rules(permissions, f"{file}: {PERMISSIONS_KEY}")


def parse_opencode_rules(config: Any, file: str) -> Layer:
    """Return the rules of an `opencode.json` or an agent's frontmatter: `permission.skill`, one action or patterns."""
    permission = config.get("permission") if isinstance(config, dict) else None
    if is_action(permission):
        return build_ordered_rules({"*": str(permission)}, f"{file}: permission")
    rules: Any = permission.get("skill", {}) if isinstance(permission, dict) else {}
    where = f"{file}: permission.skill"
    return build_ordered_rules(
        {"*": rules} if isinstance(rules, str) and is_action(rules) else _check_table(rules, where), where
    )


def parse_glm_rules(config: Any, file: str) -> Layer:
    """Return the rules of GLM's configuration: the table `[skill_permissions]`, in which order is irrelevant."""
    rules = config.get("skill_permissions", {}) if isinstance(config, dict) else {}
    return build_unordered_rules(_check_table(rules, f"{file}: skill_permissions"), f"{file}: skill_permissions")


def _check_table(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise DocumentError("expected a table of patterns", where=where)
    for pattern, action in value.items():
        if not is_action(action):
            got = sanitize(str(action), 40)
            raise DocumentError(f"expected allow, ask or deny, got {got}", where=f"{where}.{sanitize(pattern, 80)}")
    return value
