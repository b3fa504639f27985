"""What of the descriptions of skills a host really gives to the model."""

from collections.abc import Collection, Iterator, Sequence

from skillpm.agent_hosts.discover import discover, read_user_config
from skillpm.agent_hosts.profiles import list_profile_ids, load_profile
from skillpm.core.values import Value
from skillpm.formats.host_profile import ListingBudget
from skillpm.operations.serve import Viewer, make_service
from skillpm.scope.scope import Scope
from skillpm.serving.host_rules.claude_code import load_overrides
from skillpm.settings import Settings

MAX_NAMES = 5


class ListedByHost(Value):
    """A skill in the list of a host, and how many characters of its description are in it."""

    name: str
    length: int
    shown: int

    @property
    def is_cut(self) -> bool:
        """Whether the model does not get the whole description."""
        return self.shown < self.length


def apply_listing_budget(skills: Sequence[tuple[str, str]], budget: ListingBudget) -> tuple[ListedByHost, ...]:
    """Return what a host shows of skills, each with name and description, in the host's order."""
    lengths = [min(len(description), budget.description) for _, description in skills]
    left = budget.total - sum(len(name) + budget.overhead for name, _ in skills)
    shown = lengths
    if sum(lengths) > left:
        shown = _keep_first(lengths, left) if budget.cut == "names" else _shorten_alike(lengths, left)
    return tuple(
        ListedByHost(name=name, length=len(description), shown=length)
        for (name, description), length in zip(skills, shown, strict=True)
    )


def _keep_first(lengths: Sequence[int], left: int) -> list[int]:
    shown = []
    for length in lengths:
        fits = length + len(": ") <= left
        shown.append(length if fits else 0)
        left -= length + len(": ") if fits else 0
    return shown


def _shorten_alike(lengths: Sequence[int], left: int) -> list[int]:
    low, high = 0, max(lengths, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(length, middle) for length in lengths) <= left:
            low = middle
        else:
            high = middle - 1
    return [min(length, low) for length in lengths]


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
