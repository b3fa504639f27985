"""What the search goes over: needs (who wants which versions of a name) and options (what could be taken for it)."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from skillpm.core.names import SkillName
from skillpm.core.versions import parse_range, parse_version
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import BundledPin, IndexPin
from skillpm.requirements.dependency_spec import (
    covers,
    has_open_version,
    is_same_folder,
    version_range_of,
    without_range,
)
from skillpm.requirements.manifest_requirements import parse_locked_requirement
from skillpm.requirements.source import GitSource, IndexSource, PathSource, Source
from skillpm.resolver.provider import AvailableVersion

if TYPE_CHECKING:
    from packaging.version import Version


class Candidate:
    """One way to have a skill: locked already, a version that is offered, or what a source leads to.

    It is itself and equal to no other, so that asking whether two are the same costs nothing.
    """

    __slots__ = (
        "dependencies",
        "is_only_prerelease",
        "is_yanked",
        "locked",
        "name",
        "origin",
        "parsed_version",
        "requirements",
        "source",
        "version",
    )

    def __init__(
        self,
        name: SkillName,
        source: Source,
        version: str,
        *,
        dependencies: Mapping[str, Any] | None = None,
        locked: LockedSkill | None = None,
        origin: Source | None = None,
    ) -> None:
        self.name = name
        self.source = source
        self.version = version
        self.parsed_version: Version | None = parse_version(version)
        self.dependencies = dependencies
        self.locked = locked
        self.origin = source if origin is None else origin
        self.requirements: list[Requirement] | None = None
        self.is_only_prerelease = False  # a pre-release, and there is nothing else
        self.is_yanked = False  # yanked, and allowed only since it is locked already

    @property
    def sort_key(self) -> tuple[bool, bool, Any]:
        """What to sort by, newest last; what is no version comes before all that are, what was yanked before these."""
        parsed = self.parsed_version
        return (not self.is_yanked, parsed is not None, self.version if parsed is None else parsed)


class Requirement:
    """A requirement on a name, from whomever it comes. `source` None is one that nothing can fulfil."""

    __slots__ = ("_answers", "allows_prereleases", "name", "origin", "range", "source")

    def __init__(self, name: SkillName, source: Source | None, *, allows_prereleases: bool = False) -> None:
        self.name = name
        self.source = source
        self.allows_prereleases = allows_prereleases
        self.range = parse_range("*" if source is None else version_range_of(source))
        self.origin = None if source is None else without_range(source)
        self._answers: dict[Candidate, bool] = {}

    @property
    def accepts_any_origin(self) -> bool:
        """Tell whether any place may fulfil it: a version range without a place of its own."""
        return isinstance(self.source, IndexSource) and not self.source.index

    def allows(self, candidate: Candidate) -> bool:
        """Tell whether an option fulfils this; the answer is remembered, for it is asked a million times."""
        verdict = self._answers.get(candidate)
        if verdict is None:
            verdict = self._answers[candidate] = self._is_allowed(candidate)
        return verdict

    def _is_in_same_folder(self, candidate: Candidate) -> bool:
        """Tell whether a range over tags may be fulfilled by a tag, a branch or a commit of the same folder, and a
        skill that is to be found by its name by the folder that somebody else names.
        """
        if self.source is None or not has_open_version(self.source):
            return covers(candidate.origin, self.origin)
        return is_same_folder(self.origin, candidate.origin)

    def _is_allowed(self, candidate: Candidate) -> bool:
        if self.source is None or not (
            self.accepts_any_origin or self.origin == candidate.origin or self._is_in_same_folder(candidate)
        ):
            return False
        if not has_open_version(self.source):
            return True
        # What a person chose by tag, branch or folder, or locked once, is not shut out for being early.
        chosen = candidate.locked is not None or not has_open_version(candidate.origin)
        if self.range.text == "*":
            return (
                chosen
                or self.allows_prereleases
                or candidate.is_only_prerelease
                or candidate.parsed_version is None
                or not candidate.parsed_version.is_prerelease
            )
        return self.range.contains(candidate.parsed_version, prereleases=chosen or self.allows_prereleases)


class LockedCandidates:
    """The locked skills, as far as what is locked counts: not for names in `upgrade`, and of local folders only for
    those in `held`, which are not looked at again.
    """

    def __init__(self, lockfile: Lockfile, upgrade: Collection[SkillName], frozen: Collection[SkillName]) -> None:
        self.lockfile = lockfile
        self.frozen = frozen
        anew = {*upgrade} - {*frozen}
        self._origins = {name: _locked_origins(name, lockfile) for name in lockfile.skills if name not in anew}
        self._candidates: dict[SkillName, list[Candidate]] = {}

    def candidates_for(self, name: SkillName) -> list[Candidate]:
        """Give the locked state of a skill, for each place that was asked for when it was locked."""
        if name not in self._candidates:
            skill = self.lockfile.skills.get(name)
            self._candidates[name] = [
                Candidate(name, place, skill.version, dependencies=skill.dependencies, locked=skill, origin=place)
                for place in self._origins.get(name, ())
                if skill is not None and (not isinstance(place, PathSource) or name in self.frozen)
            ]
        return self._candidates[name]

    def is_locked(self, name: SkillName, origin: Source) -> bool:
        """Tell whether a fixed source is locked as it stands: then nobody needs to be asked."""
        return not has_open_version(origin) and any(option.origin == origin for option in self.candidates_for(name))

    def is_locked_version(self, candidate: Candidate) -> bool:
        """Tell whether a version is the locked one, which an update must not take for a newer one that it may not."""
        skill = self.lockfile.skills.get(candidate.name)
        return (
            skill is not None
            and skill.version == candidate.version
            and candidate.origin in _locked_origins(candidate.name, self.lockfile)
        )

    def with_current_pin(self, name: SkillName, available: AvailableVersion) -> LockedSkill:
        """Give a locked skill as it is offered now: an index that moved has the same content at another address."""
        skill = self.lockfile.skills[name]
        is_same = isinstance(skill.pin, IndexPin) and available.pin is not None and available.digest == skill.digest
        return skill.replace(pin=available.pin) if is_same else skill


def _locked_origins(name: SkillName, locked: Lockfile) -> list[Source]:
    """Give the places a locked skill was asked from. What lies in an index or ships is open to any range."""
    values = [locked.requirements.get(name), locked.overrides.get(name)]
    values += [skill.dependencies.get(name) for skill in locked.skills.values()]
    places: list[Source] = []
    for value in values:
        if value is not None and (place := without_range(parse_locked_requirement(name, value))) not in places:
            places.append(place)
    anywhere = IndexSource(name=name)
    if isinstance(locked.skills[name].pin, IndexPin | BundledPin):
        return places if anywhere in places else [*places, anywhere]
    return [place for place in places if place != anywhere]


def is_more_specific(one: Source, other: Source) -> bool:
    """Tell whether one of two places says more exactly than the other what is wanted of the same folder."""
    if not has_open_version(other):
        return covers(one, other) and not covers(other, one)
    if not is_same_folder(one, other):
        return False
    return not has_open_version(one) or (
        isinstance(one, GitSource) and isinstance(other, GitSource) and one.path > other.path
    )


def apply_override(source: Source, override: Source) -> Source:
    """Put an override in the place of a requirement: a mere range leaves the place as it was."""
    if not isinstance(override, IndexSource) or override.index:
        return override
    if isinstance(source, IndexSource):
        return source.replace(version=override.version)
    return (
        source.replace(ref=override.version) if isinstance(source, GitSource) and source.kind == "version" else source
    )
