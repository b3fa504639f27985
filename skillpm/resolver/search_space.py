"""What the search goes over: needs (who wants which versions of a name) and options (what could be taken for it)."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from skillpm.core.names import SkillName
from skillpm.core.versions import range_of, version_of
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import BundledPin, IndexPin
from skillpm.requirements.dependency_spec import covers, is_range_of, is_same_folder, range_text, without_range
from skillpm.requirements.manifest_requirements import requirement_from
from skillpm.requirements.source import GitSource, IndexSource, PathSource, Source
from skillpm.resolver.provider import Offered

if TYPE_CHECKING:
    from packaging.version import Version


class Option:
    """One way to have a skill: locked already, a version that is offered, or what a source leads to.

    It is itself and equal to no other, so that asking whether two are the same costs nothing.
    """

    __slots__ = (
        "dependencies",
        "locked",
        "name",
        "needs",
        "parsed",
        "place",
        "sole",
        "source",
        "version",
        "withdrawn",
    )

    def __init__(
        self,
        name: SkillName,
        source: Source,
        version: str,
        *,
        dependencies: Mapping[str, Any] | None = None,
        locked: LockedSkill | None = None,
        place: Source | None = None,
    ) -> None:
        self.name = name
        self.source = source
        self.version = version
        self.parsed: Version | None = version_of(version)
        self.dependencies = dependencies
        self.locked = locked
        self.place = source if place is None else place
        self.needs: list[Need] | None = None
        self.sole = False  # a pre-release, and there is nothing else
        self.withdrawn = False  # yanked, and allowed only since it is locked already

    @property
    def age(self) -> tuple[bool, bool, Any]:
        """What to sort by, newest last; what is no version comes before all that are, what was yanked before these."""
        parsed = self.parsed
        return (not self.withdrawn, parsed is not None, self.version if parsed is None else parsed)


class Need:
    """A requirement on a name, from whomever it comes. `source` None is one that nothing can fulfil."""

    __slots__ = ("_verdicts", "early", "name", "place", "range", "source")

    def __init__(self, name: SkillName, source: Source | None, *, early: bool = False) -> None:
        self.name = name
        self.source = source
        self.early = early
        self.range = range_of("*" if source is None else range_text(source))
        self.place = None if source is None else without_range(source)
        self._verdicts: dict[Option, bool] = {}

    @property
    def is_open(self) -> bool:
        """Tell whether any place may fulfil it: a version range without a place of its own."""
        return isinstance(self.source, IndexSource) and not self.source.index

    def allows(self, option: Option) -> bool:
        """Tell whether an option fulfils this; the answer is remembered, for it is asked a million times."""
        verdict = self._verdicts.get(option)
        if verdict is None:
            verdict = self._verdicts[option] = self._is_allowed(option)
        return verdict

    def _is_folder_of(self, option: Option) -> bool:
        """Tell whether a range over tags may be fulfilled by a tag, a branch or a commit of the same folder, and a
        skill that is to be found by its name by the folder that somebody else names.
        """
        if self.source is None or not is_range_of(self.source):
            return covers(option.place, self.place)
        return is_same_folder(self.place, option.place)

    def _is_allowed(self, option: Option) -> bool:
        if self.source is None or not (self.is_open or self.place == option.place or self._is_folder_of(option)):
            return False
        if not is_range_of(self.source):
            return True
        # What a person chose by tag, branch or folder, or locked once, is not shut out for being early.
        chosen = option.locked is not None or not is_range_of(option.place)
        if self.range.text == "*":
            return chosen or self.early or option.sole or option.parsed is None or not option.parsed.is_prerelease
        return self.range.holds(option.parsed, early=chosen or self.early)


class LockedOptions:
    """The locked skills, as far as what is locked counts: not for names in `upgrade`, and of local folders only for
    those in `held`, which are not looked at again.
    """

    def __init__(self, lockfile: Lockfile, upgrade: Collection[SkillName], held: Collection[SkillName]) -> None:
        self.lockfile = lockfile
        self.held = held
        anew = {*upgrade} - {*held}
        self._places = {name: _locked_places(name, lockfile) for name in lockfile.skills if name not in anew}
        self._made: dict[SkillName, list[Option]] = {}

    def of(self, name: SkillName) -> list[Option]:
        """Give the locked state of a skill, for each place that was asked for when it was locked."""
        if name not in self._made:
            skill = self.lockfile.skills.get(name)
            self._made[name] = [
                Option(name, place, skill.version, dependencies=skill.dependencies, locked=skill, place=place)
                for place in self._places.get(name, ())
                if skill is not None and (not isinstance(place, PathSource) or name in self.held)
            ]
        return self._made[name]

    def has(self, name: SkillName, place: Source) -> bool:
        """Tell whether a fixed source is locked as it stands: then nobody needs to be asked."""
        return not is_range_of(place) and any(option.place == place for option in self.of(name))

    def holds(self, option: Option) -> bool:
        """Tell whether a version is the locked one, which an update must not take for a newer one that it may not."""
        skill = self.lockfile.skills.get(option.name)
        return (
            skill is not None
            and skill.version == option.version
            and option.place in _locked_places(option.name, self.lockfile)
        )

    def as_offered(self, name: SkillName, offered: Offered) -> LockedSkill:
        """Give a locked skill as it is offered now: an index that moved has the same content at another address."""
        skill = self.lockfile.skills[name]
        is_same = isinstance(skill.pin, IndexPin) and offered.pin is not None and offered.digest == skill.digest
        return skill.but(pin=offered.pin) if is_same else skill


def _locked_places(name: SkillName, locked: Lockfile) -> list[Source]:
    """Give the places a locked skill was asked from. What lies in an index or ships is open to any range."""
    values = [locked.requirements.get(name), locked.overrides.get(name)]
    values += [skill.dependencies.get(name) for skill in locked.skills.values()]
    places: list[Source] = []
    for value in values:
        if value is not None and (place := without_range(requirement_from(name, value))) not in places:
            places.append(place)
    anywhere = IndexSource(name=name)
    if isinstance(locked.skills[name].pin, IndexPin | BundledPin):
        return places if anywhere in places else [*places, anywhere]
    return [place for place in places if place != anywhere]


def is_exacter(one: Source, other: Source) -> bool:
    """Tell whether one of two places says more exactly than the other what is wanted of the same folder."""
    if not is_range_of(other):
        return covers(one, other) and not covers(other, one)
    if not is_same_folder(one, other):
        return False
    return not is_range_of(one) or (
        isinstance(one, GitSource) and isinstance(other, GitSource) and one.path > other.path
    )


def overridden(source: Source, override: Source) -> Source:
    """Put an override in the place of a requirement: a mere range leaves the place as it was."""
    if not isinstance(override, IndexSource) or override.index:
        return override
    if isinstance(source, IndexSource):
        return source.but(version=override.version)
    return source.but(ref=override.version) if isinstance(source, GitSource) and source.kind == "version" else source
