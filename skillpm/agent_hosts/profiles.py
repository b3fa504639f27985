"""Host profiles by id: the user's own, those with a table of their own, and every known agent host in simple form."""

import os
from collections.abc import Iterable

from skillpm.agent_hosts.known_agents import TABLE, all_agents
from skillpm.core.decoder import parse_json
from skillpm.core.suggestions import guess
from skillpm.core.text import show
from skillpm.errors import NotFoundError
from skillpm.formats.agent_table import Agent
from skillpm.formats.host_profile import Profile, Root, read_profile

TABLES = os.path.join(os.path.dirname(TABLE), "hosts")


def profile_of(name: str, own: Iterable[Profile] = ()) -> Profile:
    """Give the profile of a host; `own` are the user's, which come first. Raises `NotFoundError` with near ones."""
    chosen = next((profile for profile in own if profile.id == name), None)
    if chosen is not None:
        return chosen
    if name in table_names():
        path = os.path.join(TABLES, f"{name}.json")
        with open(path, encoding="utf-8") as file:
            return read_profile(parse_json(file.read(), path), name)
    agents = all_agents()
    if name in agents:
        return simple_profile(agents[name])
    known = dict.fromkeys([*(profile.id for profile in own), *table_names(), *agents])
    usual = f"known are {', '.join(table_names())} and all of `skillpm agents --all`"
    hint = guess(name, known, usual)
    raise NotFoundError(f"there is no agent `{show(name)}`", hint=hint)


def table_names() -> list[str]:
    """Give the ids of the hosts that have a table of their own, sorted."""
    return sorted(name.removesuffix(".json") for name in os.listdir(TABLES) if name.endswith(".json"))


def simple_profile(agent: Agent) -> Profile:
    """Give what is known of any host: its folder in a project comes before the user's, one level of skills in each."""
    roots = []
    if agent.project_dir is not None:
        roots.append(Root(scope="project", paths=(agent.project_dir,), walk="git"))
    if agent.user_dir is not None:
        roots.append(Root(scope="user", paths=(agent.user_dir,)))
    home = agent.presence[0] if agent.home_env and agent.presence else ""
    return Profile(
        id=agent.id,
        about=f"{agent.id}: its folder in a project before the user's",
        roots=tuple(roots),
        home=home,
        env=agent.home_env,
    )
