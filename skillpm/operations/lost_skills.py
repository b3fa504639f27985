"""Skills that are linked for a host and that it does not load all the same, and why, as `discover` sees it."""

import os
from collections.abc import Collection, Iterator

from skillpm.agent_hosts.known_agents import agent_folder, find_agents
from skillpm.agent_hosts.profiles import list_profile_ids
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.scope import Scope
from skillpm.operations.discover import discover
from skillpm.registry.frontmatter_cache import HeadCache
from skillpm.settings import Settings

MAX_NAMES = 10


class LostSkills(Value):
    """Skills that a host does not load, for one reason."""

    agent: str
    names: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        more = f" and {len(self.names) - MAX_NAMES} more" if len(self.names) > MAX_NAMES else ""
        return f"{self.agent} does not see {', '.join(self.names[:MAX_NAMES])}{more}: {self.reason}"


def find_lost_skills(scope: Scope, settings: Settings, agents: Collection[str]) -> Iterator[LostSkills]:
    """Yield what these hosts do not load of the skills that are linked for them, one for each host and reason.

    Only for hosts whose rules are known (`profiles/hosts`).
    """
    receipt, heads, profiles = load_receipt(scope.layout), HeadCache(), list_profile_ids()
    for agent in find_agents(agent for agent in agents if agent in profiles):
        folder = agent_folder(agent, scope.kind, settings)
        linked = receipt.links.get(folder or "", {})
        if folder is None or not linked:
            continue
        base = os.path.join(os.path.realpath(scope.link_folders(settings).path(folder)), "")
        found = discover(agent.id, directory=scope.root, user_only=scope.kind == "user", cache=heads, settings=settings)
        reasons = {_skill_name(warning.path, base): warning.message for warning in reversed(found.warnings)}
        reasons |= {_skill_name(it.path, base): f"it loads {sanitize(it.winner)} instead" for it in found.shadowed}
        seen = {_skill_name(skill.path, base) for skill in found.skills} | {
            _skill_name(it.path, base) for it in found.again
        }
        lost: dict[str, list[str]] = {}
        for name in sorted(linked):
            if name not in seen and name in reasons:
                lost.setdefault(reasons[name], []).append(name)
        yield from (LostSkills(agent=agent.id, names=tuple(names), reason=reason) for reason, names in lost.items())


def _skill_name(path: str, base: str) -> str:
    """Return the name of the skill in a folder of links that a path belongs to; empty if it is elsewhere."""
    real = os.path.join(
        os.path.realpath(os.path.dirname(os.path.dirname(path))), os.path.basename(os.path.dirname(path))
    )
    return os.path.basename(real) if real.startswith(base) else ""
