"""Parse permission rules from the user's `config.toml` and a manifest. Pure."""

from collections.abc import Collection, Mapping
from typing import Any

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.name_patterns import check_patterns
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, NotFoundError
from skillpm.serving.permissions import Layer, Rule, build_ordered_rules, build_unordered_rules, is_action

PERMISSIONS_KEY, PROFILE_PERMISSIONS_KEY = "permissions", "permissions-for"


def parse_config_rules(
    config: Mapping[str, Any], file: str, profile: str = "", host_agents: Collection[str] = ()
) -> Layer:
    """Return the rules of a `config.toml`: `[permissions]`, followed by `[permissions-for.PROFILE]`.

    Raises `DocumentError` for anything but patterns with `allow`, `ask` or `deny`, and `NotFoundError` for a profile
    that is unknown and not the name of one of `host_agents`: a typo would otherwise silently allow everything.
    """
    rules = build_unordered_rules(
        _check_table(config.get(PERMISSIONS_KEY, {}), f"{file}: {PERMISSIONS_KEY}"), f"{file}: {PERMISSIONS_KEY}"
    )
    if not profile:
        return rules
    profiles = config.get(PROFILE_PERMISSIONS_KEY, {})
    if not isinstance(profiles, dict) or profile not in profiles:
        if profile in host_agents:
            return rules
        tables = [*profiles] if isinstance(profiles, dict) else []
        known = ", ".join(map(sanitize, [*tables, *host_agents])) or "none"
        raise NotFoundError(
            f"unknown profile `{sanitize(profile, 60)}`",
            where=file,
            hint=f"define it as a table `[{PROFILE_PERMISSIONS_KEY}.NAME]`; known profiles: {known}",
        )
    where = f"{file}: {PROFILE_PERMISSIONS_KEY}.{profile}"
    return Layer((*rules, *build_unordered_rules(_check_table(profiles[profile], where), where)))


def parse_manifest_rules(permissions: Mapping[str, str], file: str) -> Layer:
    """Return the rules of a manifest, in its order."""
    check_patterns(permissions, f"{file}: {PERMISSIONS_KEY}")
    return build_ordered_rules(permissions, f"{file}: {PERMISSIONS_KEY}")


def parse_enabled_rule(config: JsonNode) -> Layer:
    """Return the rule that a configuration's `[skills] enabled = false` is: deny everything."""
    skills = config.get("skills")
    if skills is None or skills.flag_or("enabled", default=True):
        return Layer()
    return Layer([Rule(pattern="*", action="deny", where=skills.require("enabled").where)])


def _check_table(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise DocumentError("expected a table of patterns", where=where)
    check_patterns(value, where)
    for pattern, action in value.items():
        if not is_action(action):
            got = sanitize(str(action), 40)
            raise DocumentError(f"expected allow, ask or deny, got {got}", where=f"{where}.{sanitize(pattern, 80)}")
    return value
