"""Agent hosts on this machine: the table of them, which are here, and where each reads skills."""

import os
from collections.abc import Iterable
from typing import Literal

from skillpm.agent_hosts.path_templates import abbreviate_home, expand_template
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError, UsageError
from skillpm.formats.agent_table import Agent, read_agents
from skillpm.settings import Settings

AGENTS_FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "profiles", "agents.json")
SHARED_FOLDER = ".agents"  # where two dozen hosts read: that it is there says nothing of any


def load_agents() -> dict[str, Agent]:
    """Give every known host by its id."""
    with open(AGENTS_FILE, encoding="utf-8") as file:
        return {agent.id: agent for agent in read_agents(file.read(), AGENTS_FILE)}


def find_agents(names: Iterable[str], *, where: str = "") -> list[Agent]:
    """Give the hosts of these ids, named in the document at `where`. Raises with the nearest ones: `NotFoundError` for
    a document, `UsageError` for what was typed.
    """
    known = load_agents()
    chosen = []
    for name in names:
        if name not in known:
            hint = suggestion_hint(name, known, "`skillpm agents --all` lists them")
            kind = NotFoundError if where else UsageError
            raise kind(f"there is no agent `{sanitize(name)}`", where=where, hint=hint)
        chosen.append(known[name])
    return chosen


def agent_folder(agent: Agent, kind: Literal["project", "user"], settings: Settings) -> str | None:
    """Give where a host reads skills in a scope, as a receipt names it; None where it reads none there."""
    if kind == "project":
        return agent.project_dir
    return None if agent.user_dir is None else abbreviate_home(_expand_path(agent.user_dir, agent, settings), settings)


def require_agent_folder(agent: Agent, kind: Literal["project", "user"], settings: Settings) -> str:
    """Give that folder. Raises `UsageError` for a host that reads no skills in this scope."""
    folder = agent_folder(agent, kind, settings)
    if folder is None:
        other = "with `-g`" if kind == "project" else "in a project"
        raise UsageError(f"{agent.id} reads no skills in {kind} scope", hint=f"link it {other}")
    return folder


def is_present(agent: Agent, root: str, settings: Settings) -> bool:
    """Tell whether a host is taken as installed here, or as used in the project at `root`: it has its folder there."""
    if root != settings.home and (own := _dedicated_folder(agent)) and os.path.isdir(os.path.join(root, own)):
        return True
    for place in agent.presence:
        path = os.path.join(root, place[2:]) if place.startswith("./") else _expand_path(place, agent, settings)
        if os.path.exists(path):
            return True
    return False


def _dedicated_folder(agent: Agent) -> str:
    """Give the folder a host keeps in a project (`.claude`), where its name tells that it is this host's."""
    top = (agent.project_dir or "").partition("/")[0]
    return top if top.startswith(".") and top != SHARED_FOLDER else ""


def _expand_path(template: str, agent: Agent, settings: Settings) -> str:
    """Give the path of a template, with the variable that moves the host's home, where it is set."""
    home = agent.presence[0] if agent.presence else ""
    return expand_template(template, settings, home=home, env=agent.home_env)
