"""Load the rules of an agent host, used when serving what that host would see."""

import os
from collections.abc import Collection

from skillpm.core.json_text.decoder import parse_toml
from skillpm.core.name_patterns import check_patterns
from skillpm.core.values import Value
from skillpm.files import read_text
from skillpm.serving.permission_files import parse_enabled_rule
from skillpm.serving.permissions import Layer
from skillpm.settings import Settings

# Of a rule, which may be about more than the name of a skill.
MAX_PATTERN_LENGTH = 1_000


class HostRules(Value):
    """The rules in a host's own files, one layer for each document; and the host's agents, which are profiles here."""

    layers: tuple[Layer, ...] = ()
    agents: Collection[str] = ()


def find_permission_files(host: str, settings: Settings) -> tuple[str, ...]:
    """Return the files and folders in which a host keeps permissions, whether they exist or not."""
    if host == "opencode":
        from skillpm.serving.host_rules.opencode_files import find_opencode_files  # noqa: PLC0415

        return tuple(find_opencode_files(settings))
    if host == "claude-code":
        from skillpm.serving.host_rules.claude_code import find_claude_files  # noqa: PLC0415

        return tuple(find_claude_files(settings))
    return (_glm_file(settings),) if host == "glm" else ()


def load_host_rules(host: str, settings: Settings, agent: str = "") -> HostRules:
    """Return the rules in a host's own files, for one of its agents; no rules for a host without such files.

    Raises `DocumentError` or `FileError` for an unreadable file: ignoring it would allow what it forbids.
    """
    rules = _load_rules(host, settings, agent)
    for layer in filter(None, rules.layers):
        check_patterns([rule.pattern for rule in layer], layer[0].where, MAX_PATTERN_LENGTH)
    return rules


def _load_rules(host: str, settings: Settings, agent: str) -> HostRules:
    if host == "opencode":
        from skillpm.serving.host_rules.opencode import build_layer, list_agents  # noqa: PLC0415
        from skillpm.serving.host_rules.opencode_files import load_opencode_config  # noqa: PLC0415

        config = load_opencode_config(settings)
        return HostRules(layers=(build_layer(config, agent),), agents=tuple(list_agents(config)))
    if host == "claude-code":
        from skillpm.serving.host_rules.claude_code import load_claude_layer  # noqa: PLC0415

        return HostRules(layers=(load_claude_layer(settings),))
    if host == "glm":
        from skillpm.serving.host_rules.glm import list_glm_agents, parse_glm_layers  # noqa: PLC0415

        file = _glm_file(settings)
        document = parse_toml(read_text(file) or "", file)
        layers = (*parse_glm_layers(document, agent), parse_enabled_rule(document))
        return HostRules(layers=layers, agents=list_glm_agents(document))
    return HostRules()


def _glm_file(settings: Settings) -> str:
    return os.path.join(settings.home, ".glm", "config.toml")
