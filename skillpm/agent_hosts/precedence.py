"""Two skills of one name: which one counts, and why. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillpm.agent_hosts.roots import Place


class FoundSkill(NamedTuple):
    """A skill that a host sees: its file, and the place of its folder among the roots (from 0).

    `description` is one line, empty where the skill has none: such a skill is there, but models are not told of it.
    """

    name: str
    description: str
    path: str
    scope: str
    root: int
    compatibility: str = ""


class Shadowed(NamedTuple):
    """A skill that is not seen, the path of the one that is, and why in words."""

    name: str
    path: str
    winner: str
    why: str


class Again(NamedTuple):
    """A second path to a file that is counted already."""

    name: str
    path: str
    winner: str


class Sighting(NamedTuple):
    """A found skill and which file it really is; None for what a registry lists, which may list one file twice."""

    skill: FoundSkill
    identity: tuple[int, int] | None


class Settled(NamedTuple):
    """What is seen, what is not, and what was met twice, each in the order of the roots."""

    skills: list[FoundSkill]
    shadowed: list[Shadowed]
    again: list[Again]


def settle(sightings: Iterable[Sighting], places: Sequence[Place], *, keep_both: bool = False) -> Settled:
    """Decide, of sightings in the order of precedence. `keep_both`: the host shows skills of one name side by side."""
    settled = Settled([], [], [])
    by_file: dict[tuple[int, int], FoundSkill] = {}
    by_name: dict[str, FoundSkill] = {}
    for skill, identity in sightings:
        same = skill if identity is None else by_file.setdefault(identity, skill)
        winner = by_name.get(skill.name)
        if same is not skill:
            settled.again.append(Again(skill.name, skill.path, same.path))
        elif winner is None or keep_both:
            by_name.setdefault(skill.name, skill)
            settled.skills.append(skill)
        else:
            why = _why(places[winner.root], places[skill.root])
            settled.shadowed.append(Shadowed(skill.name, skill.path, winner.path, why))
    return settled


def _why(winner: Place, loser: Place) -> str:
    if winner is loser:
        return "both are in one folder of skills, and the first by path counts"
    if winner.root is loser.root and winner.start != loser.start:
        return f"of a project's folders, the {winner.root.order} one counts"
    return f"{winner.label} ({winner.root.scope}) comes before {loser.label} ({loser.root.scope})"
