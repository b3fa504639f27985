"""Host profiles by id: the user's own, those with a table of their own, and every known agent host in simple form."""

import os
from collections.abc import Iterable

from skillpm.agent_hosts.known_agents import AGENTS_FILE, load_agents
from skillpm.core.decoder import parse_json
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError
from skillpm.formats.agent_table import Agent
from skillpm.formats.host_profile import HostProfile, ProfileRoot, read_profile

PROFILES_DIR = os.path.join(os.path.dirname(AGENTS_FILE), "hosts")


def load_profile(name: str, user_profiles: Iterable[HostProfile] = ()) -> HostProfile:
    """Give the profile of a host; `own` are the user's, which come first. Raises `NotFoundError` with near ones."""
    chosen = next((profile for profile in user_profiles if profile.id == name), None)
    if chosen is not None:
        return chosen
    if name in list_profile_ids():
        path = os.path.join(PROFILES_DIR, f"{name}.json")
        with open(path, encoding="utf-8") as file:
            return read_profile(parse_json(file.read(), path), name)
    agents = load_agents()
    if name in agents:
        return profile_from_agent(agents[name])
    known = dict.fromkeys([*(profile.id for profile in user_profiles), *list_profile_ids(), *agents])
    usual = f"known are {', '.join(list_profile_ids())} and all of `skillpm agents --all`"
    hint = suggestion_hint(name, known, usual)
    raise NotFoundError(f"there is no agent `{sanitize(name)}`", hint=hint)


def list_profile_ids() -> list[str]:
    """Give the ids of the hosts that have a table of their own, sorted."""
    return sorted(name.removesuffix(".json") for name in os.listdir(PROFILES_DIR) if name.endswith(".json"))


def profile_from_agent(agent: Agent) -> HostProfile:
    """Give what is known of any host: its folder in a project comes before the user's, one level of skills in each."""
    roots = []
    if agent.project_dir is not None:
        roots.append(ProfileRoot(scope="project", paths=(agent.project_dir,), walk="git"))
    if agent.user_dir is not None:
        roots.append(ProfileRoot(scope="user", paths=(agent.user_dir,)))
    home = agent.presence[0] if agent.home_env and agent.presence else ""
    return HostProfile(
        id=agent.id,
        about=f"{agent.id}: its folder in a project before the user's",
        roots=tuple(roots),
        home=home,
        env=agent.home_env,
    )
