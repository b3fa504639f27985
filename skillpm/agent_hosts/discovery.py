"""What an agent host sees from here: one engine over the folders of its profile."""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from skillpm.agent_hosts.layouts import (
    LOWERCASE_SKILL_FILE,
    SKILL_FILE,
    CandidateFile,
    WarnAt,
    describe_error,
    find_candidates,
    is_escaping_link,
)
from skillpm.agent_hosts.precedence import DiscoveredSkill, Duplicate, FoundSkill, Shadowed, resolve_precedence
from skillpm.agent_hosts.roots import SearchRoot
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.formats.host_profile import HostProfile
from skillpm.registry.frontmatter_cache import CachedHead, HeadCache
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.head import SkillHead

EMPTY_HEAD = SkillHead("", "", "")


class Scanner:
    """Reads candidates for one host, and remarks what is wrong with them."""

    def __init__(self, profile: HostProfile, cache: HeadCache, warn: WarnAt) -> None:
        self.profile = profile
        self.cache = cache
        self.warn = warn

    def read_candidate(self, candidate: CandidateFile, root: SearchRoot, root_index: int) -> DiscoveredSkill | None:
        """Read a candidate in the root of this number; None where it is no skill, or none for this host."""
        if not self._is_readable(candidate.path, root):
            return None
        try:
            seen = self.cache.read(candidate.path)
        except NotADirectoryError:
            return None
        except FileNotFoundError:
            return self._read_lowercase_file(candidate, root, root_index)
        except OSError as error:
            self.warn(candidate.path, describe_error(error))
            return None
        except NotLoadable as error:
            if not (error.finding.code == "no-frontmatter" and (candidate.is_flat or candidate.registered)):
                self.warn(candidate.path, f"line {error.finding.line}: {error.finding.message}")
            if candidate.registered is None:
                return None
            seen = CachedHead(EMPTY_HEAD, (0, 0))  # a registry may list files that are no more than text
        return self._build_skill(candidate, seen, root, root_index)

    def _is_readable(self, path: str, root: SearchRoot) -> bool:
        """Tell whether the root's rule for links lets a file be read."""
        if root.profile_root.links == "follow" or not os.path.islink(path):
            return True
        return root.profile_root.links == "inside" and not is_escaping_link(path, root, self.warn)

    def _read_lowercase_file(
        self, candidate: CandidateFile, root: SearchRoot, root_index: int
    ) -> DiscoveredSkill | None:
        """Read `skill.md` where there is no SKILL.md; other tools may not find it."""
        if os.path.basename(candidate.path) != SKILL_FILE:
            return None
        lower = candidate._replace(path=os.path.join(os.path.dirname(candidate.path), LOWERCASE_SKILL_FILE))
        if os.path.lexists(candidate.path):
            self.warn(candidate.path, "the link leads nowhere")
        if not os.path.isfile(lower.path):
            return None
        self.warn(lower.path, f"the file should be called {SKILL_FILE}; some hosts do not see it")
        return self.read_candidate(lower, root, root_index)

    def _build_skill(
        self, candidate: CandidateFile, cached: CachedHead, root: SearchRoot, root_index: int
    ) -> DiscoveredSkill | None:
        head = cached.head
        for key in self.profile.requires:
            if not getattr(head, key):
                self.warn(candidate.path, f"it has no {key}, and {self.profile.id} takes no skill without")
                return None
        calls_itself = head.name if self.profile.names == "declared" else ""
        name, description = calls_itself or candidate.name, head.description
        if candidate.registered is not None:
            name, description = candidate.registered
            if (head.name or name, head.description or description) != candidate.registered:
                self.warn(candidate.path, "the file says another name or description than skills.json does")
        found = FoundSkill(name, description, candidate.path, root.profile_root.scope, root_index, head.compatibility)
        return DiscoveredSkill(found, None if candidate.registered else cached.identity)


class DiscoveryWarning(NamedTuple):
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
    roots: tuple[SearchRoot, ...] = ()
    skills: tuple[FoundSkill, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    again: tuple[Duplicate, ...] = ()
    warnings: tuple[DiscoveryWarning, ...] = ()

    def get(self, name: str) -> FoundSkill | None:
        """Give a skill by its name."""
        return next((skill for skill in self.skills if skill.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all skills, sorted."""
        return tuple(skill.name for skill in self.skills)


def scan_roots(profile: HostProfile, roots: Sequence[SearchRoot], cache: HeadCache) -> Discovery:
    """Look into the folders of a host. Nothing that lies there stops it."""
    warnings: list[DiscoveryWarning] = []

    def remark(path: str, message: str) -> None:
        warnings.append(DiscoveryWarning(path, message))

    sights = Scanner(profile, cache, remark)

    def sightings() -> Iterator[DiscoveredSkill]:
        for number, place in enumerate(roots):
            if place.exists and not place.disabled_by:
                for candidate in find_candidates(place, remark):
                    sighting = sights.read_candidate(candidate, place, number)
                    if sighting is not None:
                        yield sighting

    settled = resolve_precedence(sightings(), roots, keep_both=profile.duplicates == "both")
    skills = sorted((skill for skill in settled.skills if _is_compatible(profile, skill, remark)), key=_sort_key)
    for first, second in pairwise(skills):
        if first.name == second.name:
            remark(
                second.path, f"`{sanitize(first.name, 60)}` is there twice, and {profile.id} shows both: {first.path}"
            )
    return Discovery(
        agent=profile.id,
        about=profile.about,
        shows_both=profile.duplicates == "both",
        roots=tuple(roots),
        skills=tuple(skills),
        shadowed=tuple(sorted(settled.shadowed, key=_sort_key)),
        again=tuple(sorted(settled.duplicates, key=_sort_key)),
        warnings=tuple(warnings),
    )


def _is_compatible(profile: HostProfile, skill: FoundSkill, warn: WarnAt) -> bool:
    """Tell whether a host takes a skill of this compatibility; most do not ask."""
    said = skill.compatibility
    if not said or not profile.compatibility or said in profile.compatibility:
        return True
    warn(skill.path, f"it is for `{sanitize(said, 60)}`, so {profile.id} leaves it out")
    return False


def _sort_key(item: FoundSkill | Shadowed | Duplicate) -> str:
    """What lists are sorted by; of one name, they stay in the order of precedence."""
    return item.name
