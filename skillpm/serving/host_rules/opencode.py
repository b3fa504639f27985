"""OpenCode's rules for skills, from its configuration documents. Pure.

As in OpenCode 1.18: documents are merged deeply, and a member of a later one replaces that of an earlier one at its old
position. Of the resulting rules, general ones and then those of the agent, the last one that matches applies.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillpm.core.json_text.decoder import JsonNode, check_host_file
from skillpm.core.name_patterns import matches_pattern
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError
from skillpm.serving.permissions import Layer, Rule, is_action
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

PERMISSION = "skill"  # the name of this permission; a rule names it by a pattern, too
# The built-in agents. The last ones deny all that is not allowed explicitly.
PRIMARY_AGENTS, SUBAGENTS = ("build", "plan"), ("general", "explore", "compaction", "title", "summary")
DENYING_AGENTS = frozenset(SUBAGENTS[1:])
# JavaScript puts such keys before all others of an object.
ARRAY_INDEX = lazy_pattern("0|[1-9][0-9]{0,8}")
# `description: Use when: asked` is invalid YAML; OpenCode then takes the value as text.
UNQUOTED_COLON = lazy_pattern(r"^([a-zA-Z_]\w*+)[ \t]*+:[ \t]*+(?!['\"\n])(.*:.*)$", re.MULTILINE | re.ASCII)

# What a document defines; in place of each action, a pair of the action and its location.
Config = dict[str, Any]


def parse_config(node: JsonNode) -> Config:
    """Return what an `opencode.json` defines. Raises `DocumentError` for an invalid rule."""
    config: Config = {}
    if (permission := _reject_native_rules(node).get("permission")) is not None:
        config["permission"] = parse_permission(permission)
    if (tools := node.get("tools")) is not None:
        config["tools"] = _parse_tools(tools)
    for group in ("agent", "mode"):
        if (agents := node.get(group)) is not None:
            config[group] = {name: parse_agent(_reject_native_rules(agent)) for name, agent in agents.items()}
    for mode in config.get("mode", {}).values():
        mode["mode"] = "primary"
    if (default := node.get("default_agent")) is not None:
        config["default_agent"] = (default.text(), default.where)
    return config


def parse_agent(node: JsonNode) -> Config:
    """Return what a member of `agent` or an agent's frontmatter defines."""
    tools, permission = node.get("tools"), node.get("permission")
    rules = {} if tools is None else _parse_tools(tools)
    rules |= {} if permission is None else parse_permission(permission)
    flags = {key: flag.value for key in ("disable", "hidden", "mode") if (flag := node.get(key)) is not None}
    return {"permission": rules, **flags}


def parse_permission(node: JsonNode) -> Config:
    """Return the members of `permission` that apply to skills: an action for all, or one for each pattern of names."""
    if isinstance(node.value, str):
        return {"*": _parse_action(node)}
    return {key: _parse_rule(rule) for key, rule in node.items() if _applies_to_skills(key)}


def parse_agent_file(text: str, file: str) -> JsonNode:
    """Return the frontmatter of an agent's Markdown file, `{}` if it has none. Raises `DocumentError`."""
    check_host_file(text, file)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith("---") or text.startswith("----"):
        return JsonNode({}, file)
    language, _, rest = text[3:].partition("\n")
    if language.strip() not in {"", "yaml"}:
        raise DocumentError(f"frontmatter in `{sanitize(language.strip(), 20)}` is not supported", where=f"{file}:1")
    block = f"\n{rest}".partition("\n---")[0].removeprefix("\n")
    try:
        values = read_yaml(block, [])
    except YamlError as error:
        try:
            values = read_yaml(UNQUOTED_COLON.sub(r"\1: |-\n  \2", block), [])
        except YamlError:
            raise DocumentError(f"invalid YAML: {error.message}", where=f"{file}:{error.line + 1}") from error
    return JsonNode({} if values is None else values, file)


def merge(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> Config:
    """Return two documents merged: objects member by member, anything else replaced."""
    merged = dict(earlier)
    for key, value in later.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def list_agents(config: Mapping[str, Any]) -> dict[str, Config]:
    """Return the agents of a merged configuration that are not disabled, the built-in ones first."""
    agents: Config = {name: {"mode": "primary"} for name in PRIMARY_AGENTS}
    agents |= {name: {"mode": "subagent"} for name in SUBAGENTS}
    agents = merge(agents, merge(config.get("agent", {}), config.get("mode", {})))
    return {name: agent for name, agent in agents.items() if not _is_on(agent.get("disable"))}


def build_layer(config: Mapping[str, Any], agent: str) -> Layer:
    """Return the rules that apply to an agent, or to the default one if there is no agent with this name."""
    agents = list_agents(config)
    name = agent if agent in agents else _default_agent(config, agents)
    native = {"*": ("deny", f"OpenCode's agent `{name}`")} if name in DENYING_AGENTS else {}
    general = merge(config.get("tools", {}), config.get("permission", {}))
    return Layer(rule for rules in (native, general, agents[name].get("permission", {})) for rule in _flatten(rules))


def _default_agent(config: Mapping[str, Any], agents: Mapping[str, Config]) -> str:
    name, where = config.get("default_agent", ("", ""))
    if name and name not in agents:
        raise DocumentError(f"unknown agent `{sanitize(name, 60)}`", where=where)
    is_primary = {
        key: agent.get("mode") != "subagent" and not _is_on(agent.get("hidden")) for key, agent in agents.items()
    }
    name = name or next((key for key in agents if is_primary[key]), "")
    if not name:
        raise DocumentError("all primary agents of OpenCode are disabled")
    return str(name)


def _flatten(rules: Mapping[str, Any]) -> Iterator[Rule]:
    for _, rule in _ordered(rules):
        for text, (action, where) in _ordered({"*": rule} if isinstance(rule, tuple) else rule):
            pattern = text.replace("\\", "/")
            yield Rule(pattern=pattern, action=action, where=where)
            if pattern.endswith(" *"):  # matches without arguments, too
                yield Rule(pattern=pattern[:-2], action=action, where=where)


def _ordered(members: Mapping[str, Any]) -> list[tuple[str, Any]]:
    def key(member: tuple[str, Any]) -> tuple[bool, int]:
        return (False, int(member[0])) if ARRAY_INDEX.fullmatch(member[0]) else (True, 0)

    return sorted(members.items(), key=key)


def _reject_native_rules(node: JsonNode) -> JsonNode:
    if node.get("permissions") is not None:
        raise DocumentError("OpenCode rejects `permissions`; its key for rules is `permission`", where=node.where)
    return node


def _parse_rule(node: JsonNode) -> Any:
    if isinstance(node.value, str):
        return _parse_action(node)
    return {pattern: _parse_action(action) for pattern, action in node.items()}


def _parse_action(node: JsonNode) -> tuple[str, str]:
    if not is_action(node.value):
        node.raise_expected("allow, ask or deny")
    return node.value, node.where


def _parse_tools(node: JsonNode) -> Config:
    """Return the older switches `tools: {skill: false}` as rules."""
    switches = ((name, switch) for name, switch in node.items() if _applies_to_skills(name))
    return {name: ("allow" if _is_on(switch.value) else "deny", switch.where) for name, switch in switches}


def _applies_to_skills(pattern: str) -> bool:
    return matches_pattern(pattern, PERMISSION)


def _is_on(value: object) -> bool:
    """Return whether a flag is set; in frontmatter, `true` is read as text."""
    return value in (True, "true")
