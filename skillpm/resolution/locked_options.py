"""What the lockfile has already, as options: a skill as it is locked, for each place it was asked from."""

from collections.abc import Collection

from skillpm.documents.lockfile import LockedSkill, Lockfile
from skillpm.documents.names import SkillName
from skillpm.documents.pin import BundledPin, IndexPin
from skillpm.resolution.options import Option
from skillpm.resolution.provider import Offered
from skillpm.sources.needs import is_range_of, without_range
from skillpm.sources.source import IndexSource, PathSource, Source
from skillpm.sources.wanted import requirement_from


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
