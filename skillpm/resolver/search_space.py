"""The search space of the solver: requirements on names, and candidates that may satisfy them."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillpm.core.names import SkillName
from skillpm.core.versions import parse_range, parse_version
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.base import Source
from skillpm.kinds.index import IndexSource
from skillpm.requirements.manifest_requirements import parse_locked_requirement
from skillpm.requirements.siblings import find_locked_sites, is_sibling
from skillpm.resolver.provider import AvailableVersion

if TYPE_CHECKING:
    from packaging.version import Version


class Candidate:
    """One version of a skill that could be selected: the locked one, an available one, or what a fixed source leads to.

    Not a `Value`: candidates are compared by identity, which the search does very often.
    """

    __slots__ = (
        "dependencies",
        "is_only_prerelease",
        "is_undated",
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
        self.is_only_prerelease = False  # a pre-release of a skill that has no other versions
        self.is_undated = False  # without a date that `exclude-newer` could compare
        self.is_yanked = False  # allowed only since it is locked already

    @property
    def sort_key(self) -> tuple[bool, bool, Any]:
        """Sorts newest last. Invalid versions come before all valid ones, yanked versions before these."""
        parsed = self.parsed_version
        return (not self.is_yanked, parsed is not None, self.version if parsed is None else parsed)


class Requirement:
    """A requirement on a name, of the manifest or of a skill. With `source` None, nothing satisfies it."""

    __slots__ = ("_answers", "allows_prereleases", "folder", "is_new", "name", "origin", "range", "source")

    def __init__(
        self,
        name: SkillName,
        source: Source | None,
        *,
        allows_prereleases: bool = False,
        folder: str = "",
        is_new: bool = False,
        origin: Source | None = None,
    ) -> None:
        self.name = name
        self.source = source
        # Of the manifest that has it, in a workspace.
        self.folder = folder
        # Whether the user has just added it: if resolving fails, no manifest has it.
        self.is_new = is_new
        self.allows_prereleases = allows_prereleases
        self.range = parse_range("*" if source is None else source.version_range)
        # Where it is looked up: of a sibling, in the commit of the skill that requires it.
        self.origin = origin if origin is not None or source is None else source.without_range()
        self._answers: dict[Candidate, bool] = {}

    @property
    def manifest(self) -> str:
        """The manifest that has it, for messages, if it is a manifest's."""
        return f"{self.folder}/skills.json".lstrip("/")

    @property
    def requirer(self) -> str:
        """The subject and verb for messages about a requirement of a manifest."""
        return "you require" if self.is_new else f"{self.manifest} requires"

    @property
    def phrase(self) -> str:
        """Its source, as it follows the name of the skill in a message."""
        return "" if self.source is None else self.source.phrase()

    @property
    def accepts_any_origin(self) -> bool:
        """Whether a candidate from any source may satisfy it: it is a version range without a source."""
        return self.source is not None and self.source.is_open

    def allows(self, candidate: Candidate) -> bool:
        """Return whether a candidate satisfies this."""
        # Cached: a long search asks this a million times.
        answer = self._answers.get(candidate)
        if answer is None:
            answer = self._answers[candidate] = self._is_allowed(candidate)
        return answer

    def _accepts_origin(self, origin: Source) -> bool:
        """Return whether a candidate from this source may satisfy the requirement, if its version does.

        A range without a source accepts any source that a requirement names. If it is looked up, it must be where this
        requirement is: a site must not replace a skill of the configured indexes, nor of another site.
        """
        if self.source is None or not self.source.is_open:
            return self.origin == origin or self._is_in_same_folder(origin)
        return not origin.is_open or origin.inherited_site == self.source.inherited_site

    def _is_in_same_folder(self, origin: Source) -> bool:
        """Return whether this is the same folder of a repository.

        A range over tags is satisfied by a tag, branch or commit of the same folder; a skill that is found by its name,
        by the folder that another requirement names.
        """
        if self.source is None or not self.source.has_open_version:
            return origin.covers(self.origin)
        return origin.is_same_folder(self.origin)

    def _is_allowed(self, candidate: Candidate) -> bool:
        if self.source is None or not self._accepts_origin(candidate.origin):
            return False
        if not self.source.has_open_version:
            return True
        # A pre-release is fine if it was chosen explicitly, by tag, branch or folder, or is locked already.
        is_chosen = candidate.locked is not None or not candidate.origin.has_open_version
        if self.range.text == "*":
            return (
                is_chosen
                or self.allows_prereleases
                or candidate.is_only_prerelease
                or candidate.parsed_version is None
                or not candidate.parsed_version.is_prerelease
            )
        return self.range.contains(candidate.parsed_version, prereleases=is_chosen or self.allows_prereleases)


class LockedCandidates:
    """The locked skills that may be kept: not those in `upgrade`, and local folders only if they are in `frozen`."""

    def __init__(
        self,
        lockfile: Lockfile,
        upgrade: Collection[SkillName],
        frozen: Collection[SkillName],
        index_urls: Collection[str],
    ) -> None:
        self.lockfile = lockfile
        self.frozen = frozen
        self._upgraded = {*upgrade} - {*frozen}
        self._origins = _locked_origins(lockfile, index_urls)
        self._candidates: dict[SkillName, list[Candidate]] = {}

    def candidates_for(self, name: SkillName) -> list[Candidate]:
        """Return the locked version of a skill as a candidate of each source that it was required from."""
        if name not in self._candidates:
            skill = self.lockfile.skills.get(name)
            self._candidates[name] = [
                Candidate(name, origin, skill.version, dependencies=skill.dependencies, locked=skill, origin=origin)
                for origin in self._origins.get(name, ())
                if skill is not None
                and name not in self._upgraded
                and (not origin.is_read_each_time or name in self.frozen)
            ]
        return self._candidates[name]

    def is_locked(self, name: SkillName, origin: Source) -> bool:
        """Return whether a fixed source (a tag, a commit) is locked unchanged, so that no query is needed."""
        return not origin.has_open_version and any(it.origin == origin for it in self.candidates_for(name))

    def is_locked_version(self, candidate: Candidate) -> bool:
        """Return whether a version is the locked one, which stays allowed even if it is yanked or too new."""
        skill = self.lockfile.skills.get(candidate.name)
        return (
            skill is not None
            and skill.version == candidate.version
            and candidate.origin in self._origins[candidate.name]
        )

    def with_current_pin(self, name: SkillName, available: AvailableVersion) -> LockedSkill:
        """Return a locked skill with its current address: an index that moved has the same content at another URL."""
        skill = self.lockfile.skills[name]
        is_same = skill.pin.index_url != "" and available.digest == skill.digest
        return skill.replace(pin=available.find_pin()) if is_same and available.find_pin is not None else skill


def _locked_origins(locked: Lockfile, index_urls: Collection[str]) -> dict[SkillName, list[Source]]:
    """Return the sources each locked skill was required from; a plain range, too, if it is from an index or bundled."""
    sites = [(name, url) for name, url in find_locked_sites(locked) if url not in index_urls]
    return {
        name: _origins_of(name, each, locked, [url for other, url in sites if other == name])
        for name, each in locked.requirements_by_name().items()
    }


def _origins_of(name: SkillName, values: Sequence[Any], locked: Lockfile, sites: Sequence[str]) -> list[Source]:
    """Return the origins of a locked skill; `sites` are those of the skills that require it."""
    skill = locked.skills[name]
    named = dict.fromkeys(parse_locked_requirement(name, value).without_range() for value in values)
    any_index = IndexSource(name=name)
    origins = [origin for origin in named if origin != any_index]
    if any_index in named and (beside := skill.pin.sibling_source()) and is_sibling(name, skill.pin, locked):
        return [*origins, beside]
    if (url := skill.pin.index_url) in sites:
        return [*origins, any_index.replace(site=url), any_index.replace(index=url)]
    if url or skill.pin.bundled_name:
        inherited = () if url else sites
        return [*origins, any_index, *(any_index.replace(site=url) for url in inherited)]
    return origins


def is_more_specific(one: Source, other: Source) -> bool:
    """Return whether one source describes the same folder as the other, but more specifically."""
    if not other.has_open_version:
        return one.covers(other) and not other.covers(one)
    if not one.is_same_folder(other):
        return False
    return not one.has_open_version or one.repository_path > other.repository_path


def apply_override(source: Source, override: Source) -> Source:
    """Return the source that an override makes of a requirement's; a range without a source keeps the source."""
    return source.with_range(override.version_range) if override.is_open else override
