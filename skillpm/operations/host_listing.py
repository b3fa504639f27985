"""What of the descriptions of skills a host really gives to the model."""

from collections.abc import Collection, Iterator

from skillpm.agent_hosts.discover import discover, read_user_config
from skillpm.agent_hosts.listing_budget import ListedByHost, apply_listing_budget
from skillpm.agent_hosts.profiles import list_profile_ids, load_profile
from skillpm.core.values import Value
from skillpm.operations.serve import Viewer, make_service
from skillpm.scope.scope import Scope
from skillpm.serving.host_rules.claude_code import load_overrides
from skillpm.settings import Settings

MAX_NAMES = 5


class HostListing(Value):
    """The list of skills that a host gives to the model; `has_limit` if it is known to cut long ones."""

    agent: str
    has_limit: bool
    skills: tuple[ListedByHost, ...]
    # Those that the user's settings of the host list by name alone.
    name_only: frozenset[str] = frozenset()

    @property
    def cut(self) -> tuple[ListedByHost, ...]:
        """The skills of which the model does not get the whole description."""
        return tuple(skill for skill in self.skills if skill.is_cut and skill.name not in self.name_only)

    @property
    def summary(self) -> str:
        """One line about what is cut; empty if nothing is."""
        if not self.cut:
            return ""
        names = ", ".join(skill.name for skill in self.cut[:MAX_NAMES])
        more = f" and {len(self.cut) - MAX_NAMES} more" if len(self.cut) > MAX_NAMES else ""
        dropped = sum(not skill.shown for skill in self.cut)
        what = "shows only the names of" if dropped == len(self.cut) else "cuts the descriptions of"
        return f"{self.agent} {what} {len(self.cut)} of {len(self.skills)} skills: {names}{more}"


def read_host_listing(scope: Scope, settings: Settings, agent: str) -> HostListing:
    """Return what a host shows of the skills that it sees from a scope. Raises `NotFoundError` for an unknown host."""
    profile = load_profile(agent, read_user_config(settings).profiles)
    order = {found.name: found.root for found in discover(agent, settings=settings).skills}
    service = make_service(scope, settings, Viewer(agent=agent))
    shown = [(skill.name, skill.description) for skill in service.list() if skill.card.is_advertised]
    shown.sort(key=lambda skill: (order.get(skill[0], 0), skill[0]))
    if profile.listing is None:
        whole = tuple(ListedByHost(name=name, length=len(text), shown=len(text)) for name, text in shown)
        return HostListing(agent=agent, has_limit=False, skills=whole)
    overrides = load_overrides(settings) if agent == "claude-code" else {}
    name_only = frozenset(name for name, value in overrides.items() if value == "name-only")
    effective = [(name, "" if name in name_only else text) for name, text in shown]
    lengths = {name: len(text) for name, text in shown}
    listed = tuple(
        skill.replace(length=lengths[skill.name]) for skill in apply_listing_budget(effective, profile.listing)
    )
    return HostListing(agent=agent, has_limit=True, skills=listed, name_only=name_only)


def find_cut_listings(scope: Scope, settings: Settings, agents: Collection[str]) -> Iterator[str]:
    """Yield a line for each of these hosts that gives the model less than all descriptions."""
    place, profiles = settings.replace(working_directory=scope.root), read_user_config(settings).profiles
    known = {*list_profile_ids(), *(profile.id for profile in profiles)}
    for agent in agents:
        if agent in known and load_profile(agent, profiles).listing is not None:
            summary = read_host_listing(scope, place, agent).summary
            if summary:
                yield f"{summary}; `skillpm list --tokens --agent {agent}{scope.flag}` lists them"
