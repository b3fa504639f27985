"""The candidates of each name, queried from the provider once, and for as many names at once as possible."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from skillpm.core.exclude_newer import NO_CUTOFF, Cutoff
from skillpm.core.limits import MAX_ALL_DEPENDENCIES, MAX_DEPENDENCY_DEPTH
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import NotFoundError, RefusedError
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.base import Pin, Source
from skillpm.kinds.index import IndexSource
from skillpm.requirements.declared_dependencies import read_dependencies
from skillpm.requirements.manifest_requirements import requirement_values
from skillpm.requirements.siblings import is_sibling
from skillpm.resolver.provider import AvailableVersion, PinnedSkill, Provider
from skillpm.resolver.search_space import Candidate, LockedCandidates, Requirement, apply_override, is_more_specific

HINT = "report it to its author, or require another version; `overrides` in skills.json replace a dependency"


class DependencyLimits:
    """Records through which skill each name was first found; never forgets one, so that searching cannot go on."""

    def __init__(self, roots: Iterable[SkillName]) -> None:
        self._parents: dict[SkillName, SkillName | None] = dict.fromkeys(roots)
        self._max_names = len(self._parents) + MAX_ALL_DEPENDENCIES

    def add(self, parent: SkillName, names: Iterable[SkillName]) -> None:
        """Record the dependencies of a skill. Raises `RefusedError` for too many, or if they are nested too deeply."""
        new = [name for name in names if name not in self._parents]
        self._parents.update(dict.fromkeys(new, parent))
        if not new:
            return
        chain = self._chain_to(new[0])
        if len(chain) > MAX_DEPENDENCY_DEPTH + 1:
            shown = " → ".join([*chain[:3], "…", *chain[-2:]])
            raise RefusedError(
                f"the dependencies of `{chain[0]}` are nested more than {MAX_DEPENDENCY_DEPTH} deep: {shown}", hint=HINT
            )
        if len(self._parents) > self._max_names:
            shown = " → ".join(chain[-4:])
            raise RefusedError(
                f"the skills require more than {MAX_ALL_DEPENDENCIES} others, the last ones by {shown}", hint=HINT
            )

    def _chain_to(self, name: SkillName) -> list[SkillName]:
        """Return the skills through which a name was found, from the one in the manifest to the name itself."""
        chain = [name]
        while (parent := self._parents.get(chain[-1])) is not None:
            chain.append(parent)
        return chain[::-1]


class ResolutionRequest(Value):
    """The input of a resolution besides the lockfile."""

    requirements: Mapping[SkillName, Source]
    # Those of the members of a workspace, by folder.
    members: Mapping[str, Mapping[SkillName, Source]] = EMPTY_MAPPING
    overrides: Mapping[SkillName, Source] = EMPTY_MAPPING
    # The requirements among them that are not in a manifest yet, each with the folder of its manifest.
    added: Collection[tuple[str, SkillName]] = ()
    # Names whose locked version is ignored.
    upgrade: Collection[SkillName] = ()
    # Local folders that are not read again, but kept as they are locked.
    frozen: Collection[SkillName] = ()
    # Excludes newer versions, except those that are locked.
    cutoff: Cutoff = NO_CUTOFF
    # Returns the URLs of the configured indexes: their skills inherit no site, even if a requirement names the URL.
    find_index_urls: Callable[[], Collection[str]] = tuple

    @property
    def roots(self) -> list[tuple[str, SkillName, Source]]:
        """The requirements of all manifests, sorted by name, with the folder of each manifest."""
        manifests = {"": self.requirements, **self.members}
        rows = [(name, folder, source) for folder, each in manifests.items() for name, source in each.items()]
        return [(folder, name, source) for name, folder, source in sorted(rows, key=lambda row: row[:2])]

    def record(self, lockfile: Lockfile) -> Lockfile:
        """Return a lockfile with these requirements and overrides."""
        return lockfile.replace(
            requirements=requirement_values(self.requirements),
            members={folder: requirement_values(each) for folder, each in self.members.items()},
            overrides=requirement_values(self.overrides),
        )


class ExcludedCandidate(Value):
    """A version that may not be selected, and why. `is_too_new`: because of `exclude-newer`; else it is yanked."""

    candidate: Candidate
    reason: str
    is_too_new: bool


class CandidateSet:
    """Candidates by name and source, their requirements, and what was pinned to find them."""

    def __init__(self, request: ResolutionRequest, provider: Provider, locked: Lockfile) -> None:
        self.request = request
        self.provider = provider
        self.locked = locked
        self.pinned: dict[Candidate, PinnedSkill] = {}
        # While set, a locked version that satisfies all requirements is the only candidate, and no other is queried.
        self.prefers_locked = True
        # Sources to look in before a requirement names them; see `solver._solve_with_origins`.
        self.presumed_origins: dict[SkillName, Source] = {}
        self.excluded: dict[SkillName, list[ExcludedCandidate]] = {}
        self._candidates: dict[tuple[SkillName, Source], list[Candidate]] = {}
        self._requirements: dict[tuple[SkillName, Source, str], Requirement] = {}
        self._index_urls = request.find_index_urls()
        self._locked_candidates = LockedCandidates(locked, request.upgrade, request.frozen, self._index_urls)
        self._dependency_limits = DependencyLimits([*{name for _, name, _ in request.roots}, *request.overrides])
        self._fixed_overrides: dict[str, Source] = {
            name: source for name, source in request.overrides.items() if not source.is_open
        }
        # The skills that inherit no site: the manifest decides where they come from.
        self._placed_names = {name for _, name, _ in request.roots} | self._fixed_overrides.keys()
        roots = [(name, source) for _, name, source in request.roots if name not in request.overrides]
        self._prerelease_names = {
            name
            for name, source in (*roots, *request.overrides.items())
            if Requirement(name, source).range.includes_prereleases
        }

    @property
    def root_requirements(self) -> list[Requirement]:
        """The requirements of the manifests."""
        return [self.get_requirement(name, source, folder) for folder, name, source in self.request.roots]

    def get_requirement(self, name: SkillName, source: Source, folder: str = "") -> Requirement:
        """Return the requirement for a source, or for the override of this name if there is one.

        `folder` is that of the manifest which has it.
        """
        if (override := self.request.overrides.get(name)) is not None:
            source = apply_override(source, override)
        key = (name, source, folder)
        if key not in self._requirements:
            self._requirements[key] = Requirement(
                name,
                source,
                allows_prereleases=name in self._prerelease_names,
                folder=folder,
                is_new=(folder, name) in self.request.added,
            )
        return self._requirements[key]

    def find_candidates(self, name: SkillName, requirements: Sequence[Requirement]) -> list[Candidate]:
        """Return all candidates from the sources of the requirements, best first: the locked one, then newest first.

        A name that is required from a repository is never looked up in an index: otherwise anyone could publish a skill
        of that name there (dependency confusion). The same holds for a dependency that is looked up in the site of the
        skill that requires it.
        """
        origins = self.find_origins(name, requirements)
        locked = [it for it in self._locked_candidates.candidates_for(name) if (name, it.origin) in origins]
        if self.prefers_locked:
            matching = [candidate for candidate in locked if all(it.allows(candidate) for it in requirements)]
            if matching:
                return matching
        self.look_up(origins)
        return [*locked, *(candidate for origin in origins for candidate in self._candidates[origin])]

    def find_matching(self, name: SkillName, requirements: Sequence[Requirement]) -> list[Candidate]:
        """Return the candidates that satisfy all requirements, best first."""
        candidates = self.find_candidates(name, requirements)
        return [candidate for candidate in candidates if all(it.allows(candidate) for it in requirements)]

    def find_origins(self, name: SkillName, requirements: Sequence[Requirement]) -> list[tuple[SkillName, Source]]:
        """Return where to look up a name: the sources that requirements name, else the indexes or the sites.

        Of several sources for one folder in a repository, only the most specific is needed: a tag rather than a range,
        a path rather than a name.
        """
        named = list(
            dict.fromkeys(it.origin for it in requirements if it.origin is not None and not it.accepts_any_origin)
        )
        if name in self.presumed_origins and self.presumed_origins[name] not in named:
            named.append(self.presumed_origins[name])
        specific = [
            origin for origin in named if not any(is_more_specific(other, origin) for other in named if other != origin)
        ]
        places = dict.fromkeys(it.origin for it in requirements if it.origin is not None and it.accepts_any_origin)
        return [(name, origin) for origin in specific or places or [IndexSource(name=name)]]

    def prefetch(self, requirements: Mapping[SkillName, Sequence[Requirement]]) -> None:
        """Look up the candidates of several names at once, except names whose locked version is kept."""
        unknown = [
            name
            for name, known in requirements.items()
            if not (self.prefers_locked and self._is_met_by_locked(name, known))
        ]
        self.look_up([origin for name in unknown for origin in self.find_origins(name, requirements[name])])

    def _is_met_by_locked(self, name: SkillName, requirements: Sequence[Requirement]) -> bool:
        locked = self._locked_candidates.candidates_for(name)
        return any(all(it.allows(candidate) for it in requirements) for candidate in locked)

    def look_up(self, wanted: Collection[tuple[SkillName, Source]]) -> None:
        """Query the provider for what is not known yet: versions in one call, fixed sources in another."""
        new = {
            key: key[1] for key in wanted if key not in self._candidates and not self._locked_candidates.is_locked(*key)
        }
        self._candidates.update({key: [] for key in wanted if key not in self._candidates and key not in new})
        while new:  # a call takes one source for each name, so two sources for one name are two calls
            batch = {name: (name, origin) for name, origin in new}
            ranges = {name: origin for name, origin in batch.values() if origin.has_open_version}
            fixed = {name: origin for name, origin in batch.values() if not origin.has_open_version}
            versions = self.provider.versions(ranges, dated=bool(self.request.cutoff.moment)) if ranges else {}
            for name, origin in ranges.items():
                self._candidates[name, origin] = self._make_candidates(name, origin, versions.get(name, ()))
            pinned = self.provider.pin(fixed) if fixed else {}
            for name, origin in fixed.items():
                candidate = Candidate(name, origin, pinned[name].version, dependencies=pinned[name].dependencies)
                self.pinned[candidate] = pinned[name]
                self._candidates[name, origin] = [candidate]
            for key in batch.values():
                del new[key]

    def _make_candidates(
        self, name: SkillName, origin: Source, versions: Sequence[AvailableVersion]
    ) -> list[Candidate]:
        """Return the available versions that may be selected, newest first."""
        allowed = []
        for available in versions:
            dependencies = available.dependencies
            candidate = Candidate(name, available.source, available.version, dependencies=dependencies, origin=origin)
            if not self._is_excluded(candidate, available):
                candidate.is_undated = self._is_undated(available)
                allowed.append(candidate)
        # If there are only pre-releases, `*` means these, as in pip.
        is_only_prerelease = all(it.parsed_version is not None and it.parsed_version.is_prerelease for it in allowed)
        for candidate in allowed:
            candidate.is_only_prerelease = is_only_prerelease
        return sorted(allowed, key=lambda candidate: candidate.sort_key, reverse=True)

    def requirements_of(self, candidate: Candidate) -> list[Requirement]:
        """Return the requirements of a candidate."""
        if candidate.requirements is None:
            self.load_requirements([candidate])
        return candidate.requirements or []

    def load_requirements(self, candidates: Sequence[Candidate]) -> None:
        """Load the requirements of candidates; those that have to be fetched for that, in one call."""
        unknown = {candidate.name: candidate for candidate in candidates if candidate.dependencies is None}
        if unknown:
            pinned = self._pin_available(unknown)
            self.pinned.update({unknown[name]: skill for name, skill in pinned.items()})
        for candidate in candidates:
            if candidate.requirements is None:
                candidate.requirements = self._read_requirements(candidate)

    def locked_skill(self, candidate: Candidate) -> LockedSkill:
        """Return the lockfile entry of a selected candidate, which must be locked or pinned."""
        if candidate.locked is not None:
            return candidate.locked
        pinned = self.pinned[candidate]
        return LockedSkill(
            pin=pinned.pin,
            digest=pinned.digest,
            version=candidate.version or pinned.version,
            dependencies=pinned.dependencies,
        )

    def pin_remaining(self, candidates: Sequence[Candidate]) -> None:
        """Pin the selected candidates that are neither locked nor pinned, in one call."""
        rest = {it.name: it for it in candidates if it.locked is None and it not in self.pinned}
        if rest:
            pinned = self.provider.pin({name: candidate.source for name, candidate in rest.items()})
            self.pinned.update({rest[name]: skill for name, skill in pinned.items()})

    def _is_excluded(self, candidate: Candidate, available: AvailableVersion) -> bool:
        """Return whether a version is yanked or too new, and record why; never the locked version."""
        if self._locked_candidates.is_locked_version(candidate):
            if available.yanked:  # indexes may no longer serve it: its lockfile entry is used
                candidate.is_yanked = True
                candidate.locked = self._locked_candidates.with_current_pin(candidate.name, available)
            return False
        is_too_new = not available.yanked and self.request.cutoff.excludes(available.published)
        if is_too_new or available.yanked:
            yanked = f"yanked: {sanitize(available.reason)}" if available.reason else "yanked"
            reason = f"{self.request.cutoff.description} (exclude-newer)" if is_too_new else yanked
            self.excluded.setdefault(candidate.name, []).append(
                ExcludedCandidate(candidate=candidate, reason=reason, is_too_new=is_too_new)
            )
        return is_too_new or available.yanked

    def _is_undated(self, available: AvailableVersion) -> bool:
        """Return whether a date is expected but missing. Bundled skills are as old as skillpm."""
        is_bundled = available.source.bundled_name != ""
        return bool(self.request.cutoff.moment) and not available.published and not is_bundled

    def _pin_available(self, candidates: Mapping[SkillName, Candidate]) -> dict[SkillName, PinnedSkill]:
        """Pin candidates to learn their requirements, leaving out those that do not exist after all."""
        try:
            return dict(self.provider.pin({name: candidate.source for name, candidate in candidates.items()}))
        except NotFoundError:  # which does not say for which of them
            pinned = {}
            for name, candidate in candidates.items():
                try:
                    pinned[name] = self.provider.pin({name: candidate.source})[name]
                except NotFoundError:
                    continue
            return pinned

    def _read_requirements(self, candidate: Candidate) -> list[Requirement]:
        dependencies = candidate.dependencies
        if dependencies is None:
            if candidate not in self.pinned:
                return [Requirement(candidate.name, None)]  # rejects a candidate that cannot be fetched
            dependencies = self.pinned[candidate].dependencies
        if not dependencies:
            return []
        owner = f"`{candidate.name}` {candidate.version}".strip()
        # Overridden dependencies are not parsed: an override is how the user replaces one that is invalid or untrusted.
        overridden = {
            SkillName(key): self._fixed_overrides[key] for key in dependencies if key in self._fixed_overrides
        }
        declared = read_dependencies(
            {key: value for key, value in dependencies.items() if key not in overridden}, owner
        )
        site = self._site_of(candidate)
        siblings = self._find_siblings(candidate, declared)
        requirements = [
            Requirement(
                name, siblings[name].sibling_source(source.version_range), origin=siblings[name].sibling_source()
            )
            if name in siblings
            else self.get_requirement(name, source if name in self._placed_names else source.inherit_site(site))
            for name, source in {**declared, **overridden}.items()
        ]
        self._dependency_limits.add(candidate.name, (requirement.name for requirement in requirements))
        # A skill that requires another version of itself can never be selected; one that requires this one can.
        if any(it.name == candidate.name and not it.allows(candidate) for it in requirements):
            return [Requirement(candidate.name, None)]
        return [requirement for requirement in requirements if requirement.name != candidate.name]

    def _find_siblings(self, candidate: Candidate, declared: Mapping[SkillName, Source]) -> dict[SkillName, Pin]:
        """Return the pins of the dependencies of a git skill that its repository has.

        Those of a locked skill stay where they are locked.
        """
        pin = candidate.locked.pin if candidate.locked is not None else self._pin_of(candidate)
        if pin is None or not pin.commit_id:
            return {}
        names = {name for name, source in declared.items() if source.is_open}
        names -= self._placed_names | self.request.overrides.keys() | {candidate.name}
        siblings: dict[SkillName, Pin] = {}
        for name in sorted(names) if candidate.locked is not None else ():
            kept = self.locked.skills.get(name)
            if kept is not None and name not in self.request.upgrade:
                names.discard(name)
                if is_sibling(name, kept.pin, self.locked):
                    siblings[name] = kept.pin
        for name, skill in (self.provider.pin_siblings(pin, sorted(names)) if names else {}).items():
            if origin := skill.pin.sibling_source():
                siblings[name] = skill.pin
                found = Candidate(name, origin, skill.version, dependencies=skill.dependencies)
                self.pinned[found] = skill
                self._candidates.setdefault((name, origin), [found])
        return siblings

    def _pin_of(self, candidate: Candidate) -> Pin | None:
        return self.pinned[candidate].pin if candidate in self.pinned else None

    def _site_of(self, candidate: Candidate) -> str:
        """Return the URL of the site that a candidate comes from; empty for one of the configured indexes."""
        origin = candidate.origin
        url = origin.index_url or origin.inherited_site
        return "" if url in self._index_urls else url
