"""Skills that are linked for a host and that it does not load all the same, and why, as `discover` sees it."""

import os
from collections.abc import Collection, Iterator

from skillpm.agent_hosts.discover import discover
from skillpm.agent_hosts.known_agents import agent_folder, find_agents
from skillpm.agent_hosts.layouts import SKILL_FILE
from skillpm.agent_hosts.profiles import list_profile_ids
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.installer.disk.layout import load_receipt
from skillpm.registry.frontmatter_cache import HeadCache
from skillpm.scope.scope import Scope
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
    paths = scope.link_folders(settings)
    # Resolved once: another process may change what a link leads to.
    bases = {folder: os.path.realpath(paths.path(folder)) for folder in receipt.links}
    linked_names = {bases[folder]: names for folder, names in receipt.links.items()}
    for agent in find_agents(agent for agent in agents if agent in profiles):
        folder = agent_folder(agent, scope.kind, settings)
        if folder is None or not receipt.links.get(folder):
            continue
        base = bases[folder]
        found = discover(agent.id, directory=scope.root, user_only=scope.kind == "user", cache=heads, settings=settings)
        reasons = {_locate(warning.path): warning.message for warning in reversed(found.warnings)}
        reasons |= {
            _locate(it.path): f"it loads those of the same name in {sanitize(_folder_of(it.winner))}"
            for it in found.shadowed
        }
        # What hides a skill may be a link or copy of the same skill, for another host.
        locations = map(_locate, [*(skill.path for skill in found.skills), *(it.path for it in found.again)])
        seen = {name for parent, name in locations if name in linked_names.get(parent, ())}
        lost: dict[str, list[str]] = {}
        for name in sorted(linked_names[base]):
            if name not in seen and (base, name) in reasons:
                lost.setdefault(reasons[base, name], []).append(name)
        yield from (LostSkills(agent=agent.id, names=tuple(names), reason=reason) for reason, names in lost.items())


def _folder_of(path: str) -> str:
    """Return the folder that holds a skill: a folder with SKILL.md, or a flat file."""
    folder, file = os.path.split(path)
    return os.path.dirname(folder) if file == SKILL_FILE else folder


def _locate(path: str) -> tuple[str, str]:
    """Return the real folder of links that a skill file belongs to, and the name of its skill there."""
    folder, name = os.path.split(os.path.dirname(path))
    return os.path.realpath(folder), name
