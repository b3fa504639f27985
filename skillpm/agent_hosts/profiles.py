"""Host profiles by ID: the user's own, the shipped ones, and a simple one for every other known agent host."""

import os
from collections.abc import Iterable

from skillpm.agent_hosts.known_agents import AGENTS_FILE, Agent, load_agents
from skillpm.core.json_text.decoder import parse_json
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError
from skillpm.formats.host_profile import HostProfile, ProfileRoot, read_profile

PROFILES_DIR = os.path.join(os.path.dirname(AGENTS_FILE), "hosts")


def load_profile(name: str, user_profiles: Iterable[HostProfile] = ()) -> HostProfile:
    """Return the profile of a host. The user's own profiles come first. Raises `NotFoundError` with suggestions."""
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
    fallback_hint = f"known agents: {', '.join(list_profile_ids())}, and those that `skillpm agents --all` lists"
    hint = suggestion_hint(name, known, fallback_hint)
    raise NotFoundError(f"unknown agent `{sanitize(name)}`", hint=hint)


def list_profile_ids() -> list[str]:
    """Return the IDs of the shipped profiles, sorted."""
    return sorted(name.removesuffix(".json") for name in os.listdir(PROFILES_DIR) if name.endswith(".json"))


def profile_from_agent(agent: Agent) -> HostProfile:
    """Return the profile of a host without one: its project folder before its user folder, one level deep."""
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
