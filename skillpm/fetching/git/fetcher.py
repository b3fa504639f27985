"""Skills from git: by repository, never by skill, and several repositories at once."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from skillpm.documents.lockfile import LockedSkill
from skillpm.documents.names import SkillName
from skillpm.documents.pin import GitPin, describe
from skillpm.documents.tree import checked_tree
from skillpm.errors import DigestMismatch, FetchError, NotFoundError, OfflineError
from skillpm.events import Reporter
from skillpm.fetching.base import Found, Offer
from skillpm.fetching.describe import described
from skillpm.fetching.git.cache import GitCache, create
from skillpm.fetching.git.complaints import missing_ref
from skillpm.fetching.git.listing import Place, name_of, place_of, read_skills, skill_places
from skillpm.fetching.git.objects import CacheDamaged, walk
from skillpm.fetching.git.process import Children
from skillpm.fetching.git.repository import Repository, Surroundings
from skillpm.fetching.git.user_config import read_user_config
from skillpm.fetching.git.ways import Wanted, bring, entries_of
from skillpm.settings import Settings
from skillpm.sources.source import GitSource
from skillpm.store import Store

Result = TypeVar("Result")
AT_ONCE = 8


class GitFetcher:
    """The fetcher for git sources and pins."""

    def __init__(self, settings: Settings, store: Store, reporter: Reporter) -> None:
        self.settings = settings
        self.store = store
        self.reporter = reporter
        self.children = Children()
        self.cache = GitCache(os.path.join(settings.cache_dir, "git"))
        self._around: Surroundings | None = None

    def pin(self, wanted: Mapping[SkillName, GitSource]) -> dict[SkillName, Found]:
        """Find the newest commit each source allows, and put the skills into the store."""
        groups = _by_url({name: source.url for name, source in wanted.items()})

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, Found]:
            return self._pin_in(repository, {name: wanted[name] for name in names})

        return self._each(groups, work)

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
                    raise DigestMismatch(
                        name, locked=expected or "", found=came.digest or "", came_from=describe(pins[name])
                    )
            return found

        self._each(_by_url({name: pin.url for name, pin in pins.items()}), work)
        return missing

    def offers(self, source: GitSource, browser: str = "") -> list[Offer]:
        """List the skills a source may mean, with the source each would be written down as."""

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, list[Offer]]:
            return {SkillName(source.url): self._offers_in(repository, source, browser)}

        return self._each({source.url: [SkillName(source.url)]}, work)[SkillName(source.url)]

    def _offers_in(self, repository: Repository, source: GitSource, browser: str) -> list[Offer]:
        source = _from_browser(repository, source, browser) if browser else source
        ref, source = _named_ref(repository, source)
        root = repository.commits([ref])[ref][1]
        if source.path or source.skill:
            places: Sequence[Place] = [place_of(repository, root, source, source.skill)]
            # It is about to be installed: all of its files in the one batch that its SKILL.md needs anyway.
            commit = repository.commits([ref])[ref][0]
            bring(repository, [Wanted(tree=places[0].tree, commit=commit, ref=ref)], self.settings.limits)
        else:
            places = skill_places(walk(repository.reader, root))
            if not places:
                raise NotFoundError(f"{repository.url} holds no skill: there is no SKILL.md in it")
        skills = read_skills(repository, walk(repository.reader, root), places)
        return [
            Offer(
                name=name_of(place, skills[place.path], repository.url),
                description=skills[place.path].description,
                source=GitSource(url=source.url, path=place.path, kind=source.kind, ref=source.ref),
            )
            for place in places
        ]

    def _pin_in(self, repository: Repository, wanted: Mapping[SkillName, GitSource]) -> dict[SkillName, Found]:
        refs, sources = {}, {}
        for name, source in wanted.items():
            refs[name], sources[name] = _named_ref(repository, source)
        commits = repository.commits(sorted(set(refs.values())))
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
        wanted = [Wanted(tree=pin.tree, commit=pin.commit, ref=pin.ref) for pin in pins.values()]
        have = bring(repository, wanted, limits)
        found = {}
        for name, pin in pins.items():
            entries = entries_of(have, pin.tree, name, self.reporter.warning)
            tree = checked_tree(entries, name=name, limits=limits)
            found[name] = described(tree, pin, name, self.reporter.warning)
            self.store.keep(tree, pin.tree)
        return found

    def _each(
        self,
        groups: Mapping[str, Sequence[SkillName]],
        work: Callable[[Repository, Sequence[SkillName]], dict[SkillName, Result]],
    ) -> dict[SkillName, Result]:
        """Do the work for each repository, several at once; the first failure ends all."""
        if not groups:
            return {}
        self._surroundings()
        results: dict[SkillName, Result] = {}
        if len(groups) == 1:
            return self._in(*next(iter(groups.items())), work)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = [pool.submit(self._in, url, names, work) for url, names in sorted(groups.items())]
            try:
                for job in jobs:
                    results |= job.result()
            except BaseException:
                self.children.stopped.set()
                pool.shutdown(cancel_futures=True)
                raise
        return results

    def _in(
        self,
        url: str,
        names: Sequence[SkillName],
        work: Callable[[Repository, Sequence[SkillName]], dict[SkillName, Result]],
    ) -> dict[SkillName, Result]:
        """Work in one repository, holding its cache; a cache that fails is made anew, once."""
        self.reporter.started(f"fetching {url}")
        try:
            with self.cache.held(url, self.settings.lock_timeout) as path:
                for attempt in ("with what is there", "anew"):
                    repository = Repository(url, path, self._surroundings())
                    try:
                        return work(repository, names)
                    except CacheDamaged as error:
                        if attempt == "anew":
                            raise FetchError(
                                f"git could not read what it fetched from {url}",
                                where=path,
                                hint="try again; if it stays so, look for a full or failing disk",
                            ) from error
                        self.reporter.warning(f"the cache of {url} was damaged; it is fetched anew")
                    finally:
                        repository.close()
                    create(path, url)
                    self._forget(url)
        finally:
            self.reporter.finished(f"fetching {url}")
        raise AssertionError("the second attempt returns or raises")  # pragma: no cover

    def _forget(self, url: str) -> None:
        """What was asked for is gone with the cache."""
        seen = self._surroundings().seen
        for key in [key for key in seen if key[0] == url]:
            del seen[key]

    def _surroundings(self) -> Surroundings:
        if self._around is None:
            self.cache.prepare()
            config = read_user_config(self.settings, self.children, self.cache.empty)
            self._around = Surroundings(
                settings=self.settings, children=self.children, config=config, folder=self.cache.empty
            )
        return self._around


def _by_url(urls: Mapping[SkillName, str]) -> dict[str, list[SkillName]]:
    groups: dict[str, list[SkillName]] = {}
    for name, url in sorted(urls.items()):
        groups.setdefault(url, []).append(name)
    return groups


def _named_ref(repository: Repository, source: GitSource) -> tuple[str, GitSource]:
    """Give the full name of the ref a source means; a ref of unknown kind is looked up: a tag before a branch."""
    match source.kind:
        case "":
            return "HEAD", source
        case "rev":
            return source.ref, source
        case "tag":
            return f"refs/tags/{source.ref}", source
        case "branch":
            return f"refs/heads/{source.ref}", source
        case "version":
            raise NotFoundError(
                "version ranges over git tags are not resolved yet",
                hint=f"name a tag: {repository.url}#<tag>",
            )
        case "any":
            tag, branch = f"refs/tags/{source.ref}", f"refs/heads/{source.ref}"
            found = repository.remote_refs([tag, branch])
            if tag in found:
                return tag, GitSource(url=source.url, path=source.path, skill=source.skill, kind="tag", ref=source.ref)
            if branch in found:
                return branch, GitSource(
                    url=source.url, path=source.path, skill=source.skill, kind="branch", ref=source.ref
                )
            raise missing_ref(source.ref, repository.url)


def _from_browser(repository: Repository, source: GitSource, browser: str) -> GitSource:
    """Split a page's `REF/PATH`: the longest ref that exists wins."""
    parts = browser.split("/")
    refs = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    names = [f"refs/{kind}/{ref}" for ref in refs for kind in ("heads", "tags")]
    found = repository.remote_refs(names)
    for ref in refs:
        path = "/".join(parts[ref.count("/") + 1 :])
        for kind, folder in (("branch", "heads"), ("tag", "tags")):
            if f"refs/{folder}/{ref}" in found:
                return GitSource(url=source.url, path=path, kind=kind, ref=ref)  # type: ignore[arg-type]
    if len(parts[0]) == 40:  # noqa: PLR2004  (a commit's page)
        return GitSource(url=source.url, path="/".join(parts[1:]), kind="rev", ref=parts[0])
    raise missing_ref(browser, repository.url)
