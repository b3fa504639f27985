"""GLM's rules for skills, from its `config.toml`. Pure.

Tables of patterns, which have no order; a list of patterns; and the lists of an agent. Each is evaluated on its own,
and the strictest answer applies. GLM defines its agents in code: in `config.toml`, the lists at the top are those of
all agents, and the ones in `[agents.NAME]` those of one.
"""

from collections.abc import Iterator

from skillpm.core.json_text.decoder import JsonNode
from skillpm.serving.permissions import Action, Layer, Rule, build_unordered_rules, is_action

DEFAULT_AGENT = "build"
PERMISSIONS = "skill_permissions"


def parse_glm_layers(config: JsonNode, agent: str = "") -> tuple[Layer, ...]:
    """Return the rules for an agent, or for the default one if the configuration has none with this name.

    Raises `DocumentError` for an invalid rule.
    """
    agents = config.get("agents") or config.with_value({})
    own = agents.get(agent) or agents.get(DEFAULT_AGENT)
    with_permissions = filter(None, (config, config.get("skills"), config.get("behavior")))
    permissions = filter(None, (node.get(PERMISSIONS) for node in with_permissions))
    lists = (layer for node in filter(None, (config, own)) for layer in _parse_lists(node))
    return (*map(_parse_permissions, permissions), *lists)


def list_glm_agents(config: JsonNode) -> tuple[str, ...]:
    """Return the agents with lists of their own."""
    agents = config.get("agents")
    return () if agents is None else tuple(name for name, _ in agents.items())


def _parse_permissions(node: JsonNode) -> Layer:
    """Return the rules of `skill_permissions`: a table, or the list of patterns that `[behavior]` may have.

    Of the list, the first pattern that matches applies. As in GLM, a skill that it does not name is allowed, and only
    the pattern `deny` denies.
    """
    if isinstance(node.value, list):
        patterns = reversed([*node.elements()])
        return Layer(_rule(pattern, "deny" if pattern.text() == "deny" else "allow") for pattern in patterns)
    for action in (action for _, action in node.items() if not is_action(action.value)):
        action.raise_expected("allow, ask or deny")
    return build_unordered_rules(node.value, node.where)


def _parse_lists(agent: JsonNode) -> Iterator[Layer]:
    """Yield the rules of an agent's lists: denied skills, and, if any are allowed, only these."""
    allowed, denied, table = (agent.get(key) for key in ("allowedSkills", "deniedSkills", "skillPermissions"))
    if allowed is not None and allowed.texts():
        rest = Rule(pattern="*", action="deny", where=allowed.where)
        yield Layer([rest, *(_rule(name, "allow") for name in allowed.elements())])
    if denied is not None:
        yield Layer(_rule(name, "deny") for name in denied.elements())
    if table is not None:
        yield _parse_permissions(table)


def _rule(pattern: JsonNode, action: Action) -> Rule:
    return Rule(pattern=pattern.text(), action=action, where=pattern.where)
