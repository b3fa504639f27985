"""Decide which of several skills with the same name a host uses, and explain why. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillpm.agent_hosts.roots import SearchRoot
from skillpm.formats.registry import RegistryEntry


class FoundSkill(NamedTuple):
    """A skill that an agent host sees."""

    name: str
    # One line; empty if the skill has none. Then the host can load it, but does not advertise it to models.
    description: str
    # The absolute path of its file.
    path: str
    # The scope of the folder it was found in: explicit, project, user, system or bundled.
    scope: str
    # The index of that folder in `Discovery.roots`.
    root: int
    # The `compatibility` of its frontmatter.
    compatibility: str = ""
    # Its entry in the registry that lists it, if one does.
    registered: RegistryEntry | None = None


class Shadowed(NamedTuple):
    """A hidden skill, the path of the one that hides it, and the reason."""

    name: str
    path: str
    winner: str
    why: str


class Duplicate(NamedTuple):
    """A second path to a file that is listed already."""

    name: str
    path: str
    winner: str


class DiscoveredSkill(NamedTuple):
    """A found skill and the device and inode of its file.

    The identity is None for skills from a registry, which may list one file under several names.
    """

    skill: FoundSkill
    identity: tuple[int, int] | None


def resolve_precedence(
    discovered: Iterable[DiscoveredSkill], roots: Sequence[SearchRoot], *, keep_both: bool = False
) -> tuple[list[FoundSkill], list[Shadowed], list[Duplicate]]:
    """Return the skills that are seen, hidden, and found again by another path, each in the order of the roots.

    `discovered` is in order of precedence. With `keep_both`, the host shows skills with the same name side by side.
    """
    seen: list[FoundSkill] = []
    shadowed: list[Shadowed] = []
    duplicates: list[Duplicate] = []
    by_file: dict[tuple[int, int], FoundSkill] = {}
    by_name: dict[str, FoundSkill] = {}
    for skill, identity in discovered:
        first = skill if identity is None else by_file.setdefault(identity, skill)
        winner = by_name.get(skill.name)
        if first is not skill:
            duplicates.append(Duplicate(skill.name, skill.path, first.path))
        elif winner is None or keep_both:
            by_name.setdefault(skill.name, skill)
            seen.append(skill)
        else:
            why = _explain_precedence(roots[winner.root], roots[skill.root])
            shadowed.append(Shadowed(skill.name, skill.path, winner.path, why))
    return seen, shadowed, duplicates


def _explain_precedence(winner: SearchRoot, loser: SearchRoot) -> str:
    if winner is loser:
        return "both are in the same skills folder, and the first by path wins"
    if winner.profile_root is loser.profile_root and winner.start_folder != loser.start_folder:
        return f"the {winner.profile_root.order} of a project's folders wins"
    return (
        f"{winner.label} ({winner.profile_root.scope}) takes precedence over {loser.label} ({loser.profile_root.scope})"
    )
