"""Skills from git: by repository, never by skill, and several repositories at once."""

from collections.abc import Mapping, Sequence

from skillpm.core.digest import told_apart
from skillpm.core.names import SkillName
from skillpm.core.tree_checks import checked_tree
from skillpm.errors import CHECK_LOCK, DigestMismatch, OfflineError
from skillpm.events import Reporter
from skillpm.fetchers.base import Found, Offer
from skillpm.fetchers.git.fetch_strategies import Wanted, bring
from skillpm.fetchers.git.history import commit_with_tree
from skillpm.fetchers.git.refs import commits_of, from_browser, named_ref
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.repository_pool import Visits
from skillpm.fetchers.git.skill_finder import UNREADABLE, Place, all_places, name_of, place_of, places_at, read_skills
from skillpm.fetchers.git.tagged_releases import Take, tagged
from skillpm.fetchers.git.tags import Tell, tagged_versions
from skillpm.fetchers.git.tree_walk import entries_of
from skillpm.fetchers.metadata import described
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import GitPin, describe_shortly
from skillpm.requirements.source import GitSource
from skillpm.resolver.provider import Offered
from skillpm.settings import Settings
from skillpm.store import Store


class GitFetcher:
    """The fetcher for git sources and pins."""

    def __init__(self, settings: Settings, store: Store, reporter: Reporter, cache: str) -> None:
        self.settings = settings
        self.store = store
        self.reporter = reporter
        self.visits = Visits(settings, reporter, cache)

    def pin(self, wanted: Mapping[SkillName, GitSource]) -> dict[SkillName, Found]:
        """Find the newest commit each source allows, and put the skills into the store."""

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, Found]:
            return self._pin_in(repository, {name: wanted[name] for name in names})

        return self.visits.each({name: source.url for name, source in wanted.items()}, work)

    def versions(
        self, wanted: Mapping[SkillName, GitSource], *, dated: bool = False
    ) -> dict[SkillName, Sequence[Offered]]:
        """List the versions that tags name; one question for each repository, several at once."""

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, Sequence[Offered]]:
            return {name: tagged_versions(repository, wanted[name], name, self._tell, dated=dated) for name in names}

        return self.visits.each({name: source.url for name, source in wanted.items()}, work)

    @property
    def _tell(self) -> Tell:
        return self.reporter.warning, self.reporter.note

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Put exactly the locked skills into the store; give what is missing offline."""
        pins = {name: skill.pin for name, skill in locked.items() if isinstance(skill.pin, GitPin)}
        missing: list[str] = []

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, Found]:
            try:
                found = self._keep(repository, {name: pins[name] for name in names})
            except OfflineError:
                missing.extend(f"{name} ({repository.url})" for name in names)
                return {}
            for name, came in found.items():
                expected = locked[name].digest
                if came.digest != expected:
                    says, there = told_apart(expected or "", came.digest or "")
                    wrong = DigestMismatch(name, locked=says, found=there, came_from=describe_shortly(pins[name]))
                    wrong.hint = f"{CHECK_LOCK}, or lock it anew with `skillpm update {name}`"
                    raise wrong  # a commit never changes, so it is the lockfile that did
            return found

        self.visits.each({name: pin.url for name, pin in pins.items()}, work)
        return sorted(missing)

    def found_by_content(self, source: GitSource, ref: str, tree: str) -> str:
        """Give the newest commit on a ref in which the source's folder has this tree id, or nothing."""
        only = SkillName(source.url)

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, str]:
            return {only: commit_with_tree(repository, ref, source.path, tree)}

        return self.visits.each({only: source.url}, work)[only]

    def offers(self, source: GitSource, browser: str = "") -> list[Offer]:
        """List the skills a source may mean, with the source each would be written down as."""
        only = SkillName(source.url)

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, list[Offer]]:
            return {only: self._offers_in(repository, source, browser)}

        return self.visits.each({only: source.url}, work)[only]

    def tagged(self, source: GitSource, take: Take) -> None:
        """Hand over every tagged version of the skills that a source means; again, where a cache was damaged."""

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, None]:
            tagged(repository, source, self.settings, self.reporter, take)
            return {}

        self.visits.each({SkillName(source.url): source.url}, work)

    def _offers_in(self, repository: Repository, source: GitSource, browser: str) -> list[Offer]:
        source = from_browser(repository, source, browser) if browser else source
        ref, source = named_ref(repository, source, source.skill, self._tell)
        commit, root = commits_of(repository, [ref])[ref]
        places: Sequence[Place]
        if source.path:
            places = places_at(repository, root, source)
        elif source.skill:
            places = [place_of(repository, root, source, source.skill)]
        else:
            places = all_places(repository, root)
        if len(places) == 1 and (source.path or source.skill):
            # It is about to be installed: all of its files in the one batch that its SKILL.md needs anyway.
            name = name_of(places[0], UNREADABLE, repository.url)
            bring(repository, [Wanted(name=name, tree=places[0].tree, commit=commit, ref=ref)], self.settings.limits)
        skills = read_skills(repository, places)
        return [
            Offer(
                name=name_of(place, skills[place.path], repository.url),
                description=skills[place.path].description,
                source=source.but(path=place.path, skill=""),
            )
            for place in places
        ]

    def _pin_in(self, repository: Repository, wanted: Mapping[SkillName, GitSource]) -> dict[SkillName, Found]:
        refs, sources = {}, {}
        for name, source in wanted.items():
            refs[name], sources[name] = named_ref(repository, source, name, self._tell)
        commits = commits_of(repository, sorted(set(refs.values())))
        pins = {}
        for name, ref in refs.items():
            commit, root = commits[ref]
            place = place_of(repository, root, sources[name], name)
            where = "" if sources[name].kind == "rev" else ref
            pins[name] = GitPin(url=repository.url, commit=commit, tree=place.tree, path=place.path, ref=where)
        return self._keep(repository, pins)

    def _keep(self, repository: Repository, pins: Mapping[SkillName, GitPin]) -> dict[SkillName, Found]:
        """Bring the pinned folders, pass each through the gate, and put it into the store."""
        limits = self.settings.limits
        wanted = [
            Wanted(name=name, tree=pin.tree, commit=pin.commit, ref=pin.ref, path=pin.path)
            for name, pin in pins.items()
        ]
        have = bring(repository, wanted, limits)
        found: dict[SkillName, Found] = {}
        for name, pin in pins.items():  # one in memory at a time
            entries = entries_of(repository, have.leaves[pin.tree], name, self.reporter.warning)
            tree = checked_tree(entries, name=name, limits=limits)
            found[name] = described(tree, pin, name)
            self.store.keep(tree, pin.tree)
        return found
