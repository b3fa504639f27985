"""What an agent host sees from here: one engine over the folders of its profile."""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from skillpm.agent_hosts.layouts import LOWER, SKILL_FILE, Candidate, Remark, candidates, leads_out, reason
from skillpm.agent_hosts.precedence import Again, FoundSkill, Shadowed, Sighting, settle
from skillpm.agent_hosts.roots import Place
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.formats.host_profile import Profile
from skillpm.registry.frontmatter_cache import HeadCache, Seen
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.head import Head

SAYS_NOTHING = Head("", "", "")


class Sights:
    """Reads candidates for one host, and remarks what is wrong with them."""

    def __init__(self, profile: Profile, cache: HeadCache, remark: Remark) -> None:
        self.profile = profile
        self.cache = cache
        self.remark = remark

    def sight(self, candidate: Candidate, place: Place, number: int) -> Sighting | None:
        """Read a candidate in the root of this number; None where it is no skill, or none for this host."""
        if not self._may_be_read(candidate.path, place):
            return None
        try:
            seen = self.cache.read(candidate.path)
        except NotADirectoryError:
            return None
        except FileNotFoundError:
            return self._lower(candidate, place, number)
        except OSError as error:
            self.remark(candidate.path, reason(error))
            return None
        except NotLoadable as error:
            if not (error.finding.code == "no-frontmatter" and (candidate.is_loose or candidate.known)):
                self.remark(candidate.path, f"line {error.finding.line}: {error.finding.message}")
            if candidate.known is None:
                return None
            seen = Seen(SAYS_NOTHING, (0, 0))  # a registry may list files that are no more than text
        return self._sighting(candidate, seen, place, number)

    def _may_be_read(self, path: str, place: Place) -> bool:
        """Tell whether the root's rule for links lets a file be read."""
        if place.root.links == "follow" or not os.path.islink(path):
            return True
        return place.root.links == "inside" and not leads_out(path, place, self.remark)

    def _lower(self, candidate: Candidate, place: Place, number: int) -> Sighting | None:
        """Read `skill.md` where there is no SKILL.md; other tools may not find it."""
        if os.path.basename(candidate.path) != SKILL_FILE:
            return None
        lower = candidate._replace(path=os.path.join(os.path.dirname(candidate.path), LOWER))
        if os.path.lexists(candidate.path):
            self.remark(candidate.path, "the link leads nowhere")
        if not os.path.isfile(lower.path):
            return None
        self.remark(lower.path, f"the file should be called {SKILL_FILE}; some hosts do not see it")
        return self.sight(lower, place, number)

    def _sighting(self, candidate: Candidate, seen: Seen, place: Place, number: int) -> Sighting | None:
        head = seen.head
        for key in self.profile.requires:
            if not getattr(head, key):
                self.remark(candidate.path, f"it has no {key}, and {self.profile.id} takes no skill without")
                return None
        calls_itself = head.name if self.profile.names == "declared" else ""
        name, description = calls_itself or candidate.name, head.description
        if candidate.known is not None:
            name, description = candidate.known
            if (head.name or name, head.description or description) != candidate.known:
                self.remark(candidate.path, "the file says another name or description than skills.json does")
        found = FoundSkill(name, description, candidate.path, place.root.scope, number, head.compatibility)
        return Sighting(found, None if candidate.known else seen.identity)


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
