"""Two skills of one name: which one counts, and why. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillpm.agent_hosts.roots import SearchRoot


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


class Duplicate(NamedTuple):
    """A second path to a file that is counted already."""

    name: str
    path: str
    winner: str


class DiscoveredSkill(NamedTuple):
    """A found skill and which file it really is; None for what a registry lists, which may list one file twice."""

    skill: FoundSkill
    identity: tuple[int, int] | None


class PrecedenceResult(NamedTuple):
    """What is seen, what is not, and what was met twice, each in the order of the roots."""

    skills: list[FoundSkill]
    shadowed: list[Shadowed]
    duplicates: list[Duplicate]


def resolve_precedence(
    discovered: Iterable[DiscoveredSkill], roots: Sequence[SearchRoot], *, keep_both: bool = False
) -> PrecedenceResult:
    """Decide, of sightings in the order of precedence. `keep_both`: the host shows skills of one name side by side."""
    settled = PrecedenceResult([], [], [])
    by_file: dict[tuple[int, int], FoundSkill] = {}
    by_name: dict[str, FoundSkill] = {}
    for skill, identity in discovered:
        same = skill if identity is None else by_file.setdefault(identity, skill)
        winner = by_name.get(skill.name)
        if same is not skill:
            settled.duplicates.append(Duplicate(skill.name, skill.path, same.path))
        elif winner is None or keep_both:
            by_name.setdefault(skill.name, skill)
            settled.skills.append(skill)
        else:
            why = _explain_precedence(roots[winner.root], roots[skill.root])
            settled.shadowed.append(Shadowed(skill.name, skill.path, winner.path, why))
    return settled


def _explain_precedence(winner: SearchRoot, loser: SearchRoot) -> str:
    if winner is loser:
        return "both are in one folder of skills, and the first by path counts"
    if winner.profile_root is loser.profile_root and winner.start_folder != loser.start_folder:
        return f"of a project's folders, the {winner.profile_root.order} one counts"
    return f"{winner.label} ({winner.profile_root.scope}) comes before {loser.label} ({loser.profile_root.scope})"
