"""What is there to choose from, asked of the provider once a name, and as many names at once as are known."""

from collections.abc import Collection, Mapping, Sequence

from skillpm.core.exclude_newer import EVERYTHING, Cutoff
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import NOTHING, Value
from skillpm.errors import NotFoundError
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.requirements.dependency_spec import is_range_of, read_needs
from skillpm.requirements.source import IndexSource, Source
from skillpm.resolver.provider import Candidate, Offered, Provider
from skillpm.resolver.search_space import LockedOptions, Need, Option, is_exacter, overridden


class Asked(Value):
    """What is asked for: the manifest's requirements, its overrides, and how new things may be.

    `upgrade` are the names whose locked version counts for nothing, `held` the local folders that are not looked at
    again; what is younger than `cutoff` is not taken, but where it is locked.
    """

    requirements: Mapping[SkillName, Source]
    overrides: Mapping[SkillName, Source] = NOTHING
    upgrade: Collection[SkillName] = ()
    held: Collection[SkillName] = ()
    cutoff: Cutoff = EVERYTHING


class Hidden(Value):
    """A version that may not be taken, and why; `is_young`: only because of its age."""

    option: Option
    why: str
    is_young: bool


class Shelf:
    """Options by name and place, their dependencies, and what was pinned on the way.

    While `is_settled`, a locked skill that fits is the only option: nobody is asked what else there would be.
    """

    def __init__(self, asked: Asked, provider: Provider, locked: Lockfile) -> None:
        self.asked = asked
        self.provider = provider
        self.locked = locked
        self.pinned: dict[Option, Candidate] = {}
        self.is_settled = True
        self.presumed: dict[SkillName, Source] = {}  # places that were named late, to be looked at from the start
        self.hidden: dict[SkillName, list[Hidden]] = {}
        self._listed: dict[tuple[SkillName, Source], list[Option]] = {}
        self._needs: dict[tuple[SkillName, Source], Need] = {}
        self._kept = LockedOptions(locked, asked.upgrade, asked.held)
        self._decided: dict[str, Source] = {
            name: source
            for name, source in asked.overrides.items()
            if not isinstance(source, IndexSource) or source.index
        }
        roots = {**asked.requirements, **asked.overrides}
        self._early = {name for name, source in roots.items() if Need(name, source).range.is_early}

    def need(self, name: SkillName, source: Source) -> Need:
        """Give a requirement, with the user's override in its place where there is one."""
        if (override := self.asked.overrides.get(name)) is not None:
            source = overridden(source, override)
        key = (name, source)
        if key not in self._needs:
            self._needs[key] = Need(name, source, early=name in self._early)
        return self._needs[key]

    def options(self, name: SkillName, needs: Sequence[Need]) -> list[Option]:
        """Give what could fulfil needs on one name, best first: what is locked, then from the newest on.

        A name that somebody wants from a place of its own is never looked for elsewhere.
        """
        places = self.places(name, needs)
        kept = [option for option in self._kept.of(name) if (name, option.place) in places]
        if self.is_settled:
            fitting = [option for option in kept if all(need.allows(option) for need in needs)]
            if fitting:
                return fitting
        self.look_up(places)
        return [*kept, *(option for place in places for option in self._listed[place])]

    def fitting(self, name: SkillName, needs: Sequence[Need]) -> list[Option]:
        """Give the options that fulfil all these needs, best first."""
        return [option for option in self.options(name, needs) if all(need.allows(option) for need in needs)]

    def places(self, name: SkillName, needs: Sequence[Need]) -> list[tuple[SkillName, Source]]:
        """Give where to look for a name: in the places that were named, else in the indexes.

        Of one folder in a repository the most exact is enough: a tag before any range, a path before a name.
        """
        named = list(dict.fromkeys(need.place for need in needs if need.place is not None and not need.is_open))
        if name in self.presumed and self.presumed[name] not in named:
            named.append(self.presumed[name])
        exact = [place for place in named if not any(is_exacter(other, place) for other in named if other != place)]
        return [(name, place) for place in exact or [IndexSource(name=name)]]

    def prepare(self, wanted: Mapping[SkillName, Sequence[Need]]) -> None:
        """Look up at once what needs on several names will have to be chosen from."""
        unknown = [
            name for name, needs in wanted.items() if not (self.is_settled and self._fits_as_locked(name, needs))
        ]
        self.look_up([place for name in unknown for place in self.places(name, wanted[name])])

    def _fits_as_locked(self, name: SkillName, needs: Sequence[Need]) -> bool:
        return any(all(need.allows(option) for need in needs) for option in self._kept.of(name))

    def look_up(self, wanted: Collection[tuple[SkillName, Source]]) -> None:
        """Ask for what is not known yet: lists of versions in one call, fixed sources in another."""
        new = {key: key[1] for key in wanted if key not in self._listed and not self._kept.has(*key)}
        self._listed.update({key: [] for key in wanted if key not in self._listed and key not in new})
        while new:  # two places for one name are two calls
            batch = {name: (name, place) for name, place in new}
            ranges = {name: place for name, place in batch.values() if is_range_of(place)}
            fixed = {name: place for name, place in batch.values() if not is_range_of(place)}
            lists = self.provider.versions(ranges, dated=bool(self.asked.cutoff.moment)) if ranges else {}
            for name, place in ranges.items():
                options = [
                    (Option(name, it.source, it.version, dependencies=it.dependencies, place=place), it)
                    for it in lists.get(name, ())
                ]
                fitting = [option for option, offered in options if not self._is_hidden(option, offered)]
                # Where there are only pre-releases, whoever asks for any version means these.
                sole = all(option.parsed is not None and option.parsed.is_prerelease for option in fitting)
                for option in fitting:
                    option.sole = sole
                self._listed[name, place] = sorted(fitting, key=lambda option: option.age, reverse=True)
            found = self.provider.pin(fixed) if fixed else {}
            for name, place in fixed.items():
                option = Option(name, place, found[name].version, dependencies=found[name].dependencies)
                self.pinned[option] = found[name]
                self._listed[name, place] = [option]
            for key in batch.values():
                del new[key]

    def needs_of(self, option: Option) -> list[Need]:
        """Give what an option needs of others."""
        if option.needs is None:
            self.open([option])
        return option.needs or []

    def open(self, options: Sequence[Option]) -> None:
        """Learn what options need, those that only they themselves know in one call."""
        closed = {option.name: option for option in options if option.dependencies is None}
        if closed:
            found = self._pin(closed)
            self.pinned.update({closed[name]: candidate for name, candidate in found.items()})
        for option in options:
            if option.needs is None:
                option.needs = self._needs_of(option)

    def locked_skill(self, option: Option) -> LockedSkill:
        """Give what a lockfile says of an option that was taken. Those that are not locked have to be pinned."""
        if option.locked is not None:
            return option.locked
        found = self.pinned[option]
        return LockedSkill(
            pin=found.pin,
            digest=found.digest,
            version=option.version or found.version,
            dependencies=found.dependencies,
        )

    def pin_rest(self, options: Sequence[Option]) -> None:
        """Make those exact that were taken and are not yet, in one call."""
        rest = {option.name: option for option in options if option.locked is None and option not in self.pinned}
        if rest:
            found = self.provider.pin({name: option.source for name, option in rest.items()})
            self.pinned.update({rest[name]: candidate for name, candidate in found.items()})

    def _is_hidden(self, option: Option, offered: Offered) -> bool:
        """Tell whether a version may not be taken anew, and remember why. What is locked is not taken anew."""
        if self._kept.holds(option):
            if offered.yanked:  # nobody gives it out any more, but what is locked is known
                option.withdrawn, option.locked = True, self._kept.as_offered(option.name, offered)
            return False
        is_young = not offered.yanked and self.asked.cutoff.hides(offered.published)
        if is_young or offered.yanked:
            yanked = f"yanked: {show(offered.reason)}" if offered.reason else "yanked"
            why = f"{self.asked.cutoff.said} (exclude-newer)" if is_young else yanked
            self.hidden.setdefault(option.name, []).append(Hidden(option=option, why=why, is_young=is_young))
        return is_young or offered.yanked

    def _pin(self, closed: Mapping[SkillName, Option]) -> dict[SkillName, Candidate]:
        """Pin versions to learn what they need; one that is not there after all is one that cannot be taken."""
        try:
            return dict(self.provider.pin({name: option.source for name, option in closed.items()}))
        except NotFoundError:
            found = {}
            for name, option in closed.items():
                try:
                    found[name] = self.provider.pin({name: option.source})[name]
                except NotFoundError:
                    continue
            return found

    def _needs_of(self, option: Option) -> list[Need]:
        dependencies = option.dependencies
        if dependencies is None:
            if option not in self.pinned:
                return [Need(option.name, None)]
            dependencies = self.pinned[option].dependencies
        if not dependencies:
            return []
        whose = f"`{option.name}` {option.version}".strip()
        # What the user decides is not read at all: it may be what cannot be understood, or may not be trusted.
        decided = {SkillName(key): self._decided[key] for key in dependencies if key in self._decided}
        said = read_needs({key: value for key, value in dependencies.items() if key not in decided}, whose)
        needs = [self.need(name, source) for name, source in {**said, **decided}.items()]
        own = [need for need in needs if need.name == option.name]
        if any(not need.allows(option) for need in own):
            return [Need(option.name, None)]
        return [need for need in needs if need.name != option.name]
