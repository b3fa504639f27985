"""What an agent host sees from here: one engine over the folders of its profile."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from skillpm.documents.profile import Profile
from skillpm.documents.text import show
from skillpm.serving.heads import HeadCache
from skillpm.serving.layouts import Remark, candidates
from skillpm.serving.roots import Place
from skillpm.serving.shadowing import Again, FoundSkill, Shadowed, Sighting, settle
from skillpm.serving.sighting import Sights
from skillpm.values import Value


class Remarked(NamedTuple):
    """Something wrong at a path, which stopped nothing."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Discovery(Value):
    """What a host sees. `roots` are in order, and the first that has a name counts; the lists are sorted by name,
    those of one name by precedence.

    `shadowed` are skills hidden by another one of the same name, `again` further paths to a file counted already.
    `shows_both`: the host shows skills of one name side by side, and nothing is hidden.
    """

    agent: str
    about: str = ""
    shows_both: bool = False
    roots: tuple[Place, ...] = ()
    skills: tuple[FoundSkill, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    again: tuple[Again, ...] = ()
    warnings: tuple[Remarked, ...] = ()

    def get(self, name: str) -> FoundSkill | None:
        """Give a skill by its name."""
        return next((skill for skill in self.skills if skill.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all skills, sorted."""
        return tuple(skill.name for skill in self.skills)


def look(profile: Profile, places: Sequence[Place], cache: HeadCache) -> Discovery:
    """Look into the folders of a host. Nothing that lies there stops it."""
    warnings: list[Remarked] = []

    def remark(path: str, message: str) -> None:
        warnings.append(Remarked(path, message))

    sights = Sights(profile, cache, remark)

    def sightings() -> Iterator[Sighting]:
        for number, place in enumerate(places):
            if place.exists and not place.off:
                for candidate in candidates(place, remark):
                    sighting = sights.sight(candidate, place, number)
                    if sighting is not None:
                        yield sighting

    settled = settle(sightings(), places, keep_both=profile.duplicates == "both")
    skills = sorted((skill for skill in settled.skills if _is_for(profile, skill, remark)), key=_name)
    for first, second in pairwise(skills):
        if first.name == second.name:
            remark(second.path, f"`{show(first.name, 60)}` is there twice, and {profile.id} shows both: {first.path}")
    return Discovery(
        agent=profile.id,
        about=profile.about,
        shows_both=profile.duplicates == "both",
        roots=tuple(places),
        skills=tuple(skills),
        shadowed=tuple(sorted(settled.shadowed, key=_name)),
        again=tuple(sorted(settled.again, key=_name)),
        warnings=tuple(warnings),
    )


def _is_for(profile: Profile, skill: FoundSkill, remark: Remark) -> bool:
    """Tell whether a host takes a skill of this compatibility; most do not ask."""
    said = skill.compatibility
    if not said or not profile.compatibility or said in profile.compatibility:
        return True
    remark(skill.path, f"it is for `{show(said, 60)}`, so {profile.id} leaves it out")
    return False


def _name(item: FoundSkill | Shadowed | Again) -> str:
    """What lists are sorted by; of one name, they stay in the order of precedence."""
    return item.name
