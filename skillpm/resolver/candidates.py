"""What is there to choose from, asked of the provider once a name, and as many names at once as are known."""

from collections.abc import Collection, Mapping, Sequence

from skillpm.core.exclude_newer import NO_CUTOFF, Cutoff
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import NotFoundError
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.requirements.dependency_spec import has_open_version, read_dependencies
from skillpm.requirements.source import IndexSource, Source
from skillpm.resolver.provider import AvailableVersion, PinnedSkill, Provider
from skillpm.resolver.search_space import Candidate, LockedCandidates, Requirement, apply_override, is_more_specific


class ResolutionRequest(Value):
    """What is asked for: the manifest's requirements, its overrides, and how new things may be.

    `upgrade` are the names whose locked version counts for nothing, `held` the local folders that are not looked at
    again; what is younger than `cutoff` is not taken, but where it is locked.
    """

    requirements: Mapping[SkillName, Source]
    overrides: Mapping[SkillName, Source] = EMPTY_MAPPING
    upgrade: Collection[SkillName] = ()
    frozen: Collection[SkillName] = ()
    cutoff: Cutoff = NO_CUTOFF


class ExcludedCandidate(Value):
    """A version that may not be taken, and why; `is_young`: only because of its age."""

    candidate: Candidate
    reason: str
    is_too_new: bool


class CandidateSet:
    """Options by name and place, their dependencies, and what was pinned on the way.

    While `is_settled`, a locked skill that fits is the only option: nobody is asked what else there would be.
    """

    def __init__(self, request: ResolutionRequest, provider: Provider, locked: Lockfile) -> None:
        self.request = request
        self.provider = provider
        self.locked = locked
        self.pinned: dict[Candidate, PinnedSkill] = {}
        self.prefers_locked = True
        self.presumed_origins: dict[
            SkillName, Source
        ] = {}  # places that were named late, to be looked at from the start
        self.excluded: dict[SkillName, list[ExcludedCandidate]] = {}
        self._candidates: dict[tuple[SkillName, Source], list[Candidate]] = {}
        self._requirements: dict[tuple[SkillName, Source], Requirement] = {}
        self._locked_candidates = LockedCandidates(locked, request.upgrade, request.frozen)
        self._fixed_overrides: dict[str, Source] = {
            name: source
            for name, source in request.overrides.items()
            if not isinstance(source, IndexSource) or source.index
        }
        roots = {**request.requirements, **request.overrides}
        self._prerelease_names = {
            name for name, source in roots.items() if Requirement(name, source).range.includes_prereleases
        }

    def get_requirement(self, name: SkillName, source: Source) -> Requirement:
        """Give a requirement, with the user's override in its place where there is one."""
        if (override := self.request.overrides.get(name)) is not None:
            source = apply_override(source, override)
        key = (name, source)
        if key not in self._requirements:
            self._requirements[key] = Requirement(name, source, allows_prereleases=name in self._prerelease_names)
        return self._requirements[key]

    def find_candidates(self, name: SkillName, requirements: Sequence[Requirement]) -> list[Candidate]:
        """Give what could fulfil needs on one name, best first: what is locked, then from the newest on.

        A name that somebody wants from a place of its own is never looked for elsewhere.
        """
        places = self.find_origins(name, requirements)
        kept = [option for option in self._locked_candidates.candidates_for(name) if (name, option.origin) in places]
        if self.prefers_locked:
            fitting = [option for option in kept if all(need.allows(option) for need in requirements)]
            if fitting:
                return fitting
        self.look_up(places)
        return [*kept, *(option for place in places for option in self._candidates[place])]

    def find_matching(self, name: SkillName, requirements: Sequence[Requirement]) -> list[Candidate]:
        """Give the options that fulfil all these needs, best first."""
        return [
            option
            for option in self.find_candidates(name, requirements)
            if all(need.allows(option) for need in requirements)
        ]

    def find_origins(self, name: SkillName, requirements: Sequence[Requirement]) -> list[tuple[SkillName, Source]]:
        """Give where to look for a name: in the places that were named, else in the indexes.

        Of one folder in a repository the most exact is enough: a tag before any range, a path before a name.
        """
        named = list(
            dict.fromkeys(
                need.origin for need in requirements if need.origin is not None and not need.accepts_any_origin
            )
        )
        if name in self.presumed_origins and self.presumed_origins[name] not in named:
            named.append(self.presumed_origins[name])
        exact = [
            place for place in named if not any(is_more_specific(other, place) for other in named if other != place)
        ]
        return [(name, place) for place in exact or [IndexSource(name=name)]]

    def prefetch(self, requirements: Mapping[SkillName, Sequence[Requirement]]) -> None:
        """Look up at once what needs on several names will have to be chosen from."""
        unknown = [
            name
            for name, needs in requirements.items()
            if not (self.prefers_locked and self._is_met_by_locked(name, needs))
        ]
        self.look_up([place for name in unknown for place in self.find_origins(name, requirements[name])])

    def _is_met_by_locked(self, name: SkillName, requirements: Sequence[Requirement]) -> bool:
        return any(
            all(need.allows(option) for need in requirements) for option in self._locked_candidates.candidates_for(name)
        )

    def look_up(self, wanted: Collection[tuple[SkillName, Source]]) -> None:
        """Ask for what is not known yet: lists of versions in one call, fixed sources in another."""
        new = {
            key: key[1] for key in wanted if key not in self._candidates and not self._locked_candidates.is_locked(*key)
        }
        self._candidates.update({key: [] for key in wanted if key not in self._candidates and key not in new})
        while new:  # two places for one name are two calls
            batch = {name: (name, place) for name, place in new}
            ranges = {name: place for name, place in batch.values() if has_open_version(place)}
            fixed = {name: place for name, place in batch.values() if not has_open_version(place)}
            lists = self.provider.versions(ranges, dated=bool(self.request.cutoff.moment)) if ranges else {}
            for name, place in ranges.items():
                options = [
                    (Candidate(name, it.source, it.version, dependencies=it.dependencies, origin=place), it)
                    for it in lists.get(name, ())
                ]
                fitting = [option for option, offered in options if not self._is_excluded(option, offered)]
                # Where there are only pre-releases, whoever asks for any version means these.
                sole = all(
                    option.parsed_version is not None and option.parsed_version.is_prerelease for option in fitting
                )
                for option in fitting:
                    option.is_only_prerelease = sole
                self._candidates[name, place] = sorted(fitting, key=lambda option: option.sort_key, reverse=True)
            found = self.provider.pin(fixed) if fixed else {}
            for name, place in fixed.items():
                option = Candidate(name, place, found[name].version, dependencies=found[name].dependencies)
                self.pinned[option] = found[name]
                self._candidates[name, place] = [option]
            for key in batch.values():
                del new[key]

    def requirements_of(self, candidate: Candidate) -> list[Requirement]:
        """Give what an option needs of others."""
        if candidate.requirements is None:
            self.load_requirements([candidate])
        return candidate.requirements or []

    def load_requirements(self, candidates: Sequence[Candidate]) -> None:
        """Learn what options need, those that only they themselves know in one call."""
        closed = {option.name: option for option in candidates if option.dependencies is None}
        if closed:
            found = self._pin_available(closed)
            self.pinned.update({closed[name]: candidate for name, candidate in found.items()})
        for option in candidates:
            if option.requirements is None:
                option.requirements = self._read_requirements(option)

    def locked_skill(self, candidate: Candidate) -> LockedSkill:
        """Give what a lockfile says of an option that was taken. Those that are not locked have to be pinned."""
        if candidate.locked is not None:
            return candidate.locked
        found = self.pinned[candidate]
        return LockedSkill(
            pin=found.pin,
            digest=found.digest,
            version=candidate.version or found.version,
            dependencies=found.dependencies,
        )

    def pin_remaining(self, candidates: Sequence[Candidate]) -> None:
        """Make those exact that were taken and are not yet, in one call."""
        rest = {option.name: option for option in candidates if option.locked is None and option not in self.pinned}
        if rest:
            found = self.provider.pin({name: option.source for name, option in rest.items()})
            self.pinned.update({rest[name]: candidate for name, candidate in found.items()})

    def _is_excluded(self, candidate: Candidate, available: AvailableVersion) -> bool:
        """Tell whether a version may not be taken anew, and remember why. What is locked is not taken anew."""
        if self._locked_candidates.is_locked_version(candidate):
            if available.yanked:  # nobody gives it out any more, but what is locked is known
                candidate.is_yanked, candidate.locked = (
                    True,
                    self._locked_candidates.with_current_pin(candidate.name, available),
                )
            return False
        is_young = not available.yanked and self.request.cutoff.excludes(available.published)
        if is_young or available.yanked:
            yanked = f"yanked: {sanitize(available.reason)}" if available.reason else "yanked"
            why = f"{self.request.cutoff.description} (exclude-newer)" if is_young else yanked
            self.excluded.setdefault(candidate.name, []).append(
                ExcludedCandidate(candidate=candidate, reason=why, is_too_new=is_young)
            )
        return is_young or available.yanked

    def _pin_available(self, candidates: Mapping[SkillName, Candidate]) -> dict[SkillName, PinnedSkill]:
        """Pin versions to learn what they need; one that is not there after all is one that cannot be taken."""
        try:
            return dict(self.provider.pin({name: option.source for name, option in candidates.items()}))
        except NotFoundError:
            found = {}
            for name, option in candidates.items():
                try:
                    found[name] = self.provider.pin({name: option.source})[name]
                except NotFoundError:
                    continue
            return found

    def _read_requirements(self, candidate: Candidate) -> list[Requirement]:
        dependencies = candidate.dependencies
        if dependencies is None:
            if candidate not in self.pinned:
                return [Requirement(candidate.name, None)]
            dependencies = self.pinned[candidate].dependencies
        if not dependencies:
            return []
        whose = f"`{candidate.name}` {candidate.version}".strip()
        # What the user decides is not read at all: it may be what cannot be understood, or may not be trusted.
        decided = {SkillName(key): self._fixed_overrides[key] for key in dependencies if key in self._fixed_overrides}
        said = read_dependencies({key: value for key, value in dependencies.items() if key not in decided}, whose)
        needs = [self.get_requirement(name, source) for name, source in {**said, **decided}.items()]
        own = [need for need in needs if need.name == candidate.name]
        if any(not need.allows(candidate) for need in own):
            return [Requirement(candidate.name, None)]
        return [need for need in needs if need.name != candidate.name]
