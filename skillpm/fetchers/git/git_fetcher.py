"""Fetch skills from git: grouped by repository, and several repositories in parallel."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from skillpm.core.digest import Digest, shorten_distinct_digests
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.errors import (
    EDITED_LOCK_HINT,
    ConflictError,
    DigestMismatch,
    NotFoundError,
    OfflineError,
    RefusedError,
    SeveralNotFound,
    SignatureError,
    SkillpmError,
    concerning,
)
from skillpm.events import Reporter
from skillpm.fetchers.base import AvailableSkill, FetchedSkill, Listing, ListingRequest, variant_of
from skillpm.fetchers.cooldown import Cooldown
from skillpm.fetchers.destinations import Destinations
from skillpm.fetchers.file_patterns import find_unused_patterns
from skillpm.fetchers.git.errors import MissingRef
from skillpm.fetchers.git.history import exclude_newer_commits, find_commit_with_tree, is_on_branch
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.repository_pool import RepositoryPool
from skillpm.fetchers.git.signatures import verify_signature
from skillpm.fetchers.git.skill_finder import (
    UNREADABLE_SKILL,
    SkillLocation,
    find_all_skills,
    find_by_name,
    find_skill,
    find_skills_at,
    name_of,
    read_skills,
)
from skillpm.fetchers.git.tagged_releases import ReleaseHandler, read_tagged_releases
from skillpm.fetchers.git.tags import LogFunctions, list_tag_versions
from skillpm.fetchers.git.transfer.fetch_strategies import WantedFolder, fetch_missing
from skillpm.fetchers.git.transfer.refs import resolve_browser_path, resolve_commits, resolve_ref
from skillpm.fetchers.git.tree_proof import prove_trees, read_tree_id
from skillpm.fetchers.git.tree_walk import read_entries
from skillpm.fetchers.metadata import read_metadata
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import GitPin, summarize_pin
from skillpm.requirements.source import GitSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Proofs, Store


class _Found(NamedTuple):
    source: GitSource
    commit: str
    ref: str
    locations: Sequence[SkillLocation]


class GitFetcher:
    """The fetcher for git sources and pins."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        reporter: Reporter,
        cache: str,
        destinations: Destinations,
        cooldown: Cooldown,
    ) -> None:
        self.settings = settings
        self.store = store
        self.proofs = Proofs(settings.cache_dir)
        self.reporter = reporter
        self.cooldown = cooldown
        self._signers: dict[tuple[str, ...], Digest | SignatureError] = {}
        self.repositories = RepositoryPool(settings, reporter, cache, destinations)

    def pin(self, sources: Mapping[SkillName, GitSource]) -> dict[SkillName, FetchedSkill]:
        """Resolve each source to its newest commit, and add the skills to the store."""

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, FetchedSkill]:
            with concerning(*names):
                return self._pin_repository(repository, {name: sources[name] for name in names})

        return self.repositories.run_each({name: source.url for name, source in sources.items()}, work)

    def versions(
        self, sources: Mapping[SkillName, GitSource], *, dated: bool = False
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """List the tagged versions of skills, with one request for each repository."""

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, Sequence[AvailableVersion]]:
            with concerning(*names):
                return {
                    name: list_tag_versions(repository, sources[name], name, self._log, dated=dated) for name in names
                }

        return self.repositories.run_each({name: source.url for name, source in sources.items()}, work)

    def find_tagged_commits(self, pins: Mapping[SkillName, GitPin]) -> dict[SkillName, str]:
        """Return the commits that the tags of these pins point at now, with one request for each repository.

        Empty for a tag that is gone.
        """

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, str]:
            with concerning(*names):
                tags = repository.list_remote_tags()
            return {name: tags.get(pins[name].ref.removeprefix("refs/tags/"), "") for name in names}

        return self.repositories.run_each({name: pin.url for name, pin in pins.items()}, work)

    def find_commits_off_branch(self, pins: Mapping[SkillName, GitPin]) -> dict[SkillName, str]:
        """Return for each of these pins, which follow branches, where its commit is.

        `on` the branch or `off` it, `gone` if the branch is, and `unknown` if the server cannot tell without sending
        all files, and offline. One request for each repository, and one for each commit that is not the tip of its
        branch.
        """

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, str]:
            if self.settings.offline:
                return dict.fromkeys(names, "unknown")
            with concerning(*names):
                tips = repository.find_branch_tips(sorted({pins[name].ref for name in names}))
                pairs = {(pins[name].commit, tips[pins[name].ref]) for name in names if pins[name].ref in tips}
                places = {True: "on", False: "off", None: "unknown"}
                found = {pair: places[is_on_branch(repository, *pair)] for pair in sorted(pairs)}
            return {name: found.get((pins[name].commit, tips.get(pins[name].ref, "")), "gone") for name in names}

        return self.repositories.run_each({name: pin.url for name, pin in pins.items()}, work)

    def find_lost_commits(self, pins: Mapping[SkillName, GitPin]) -> set[SkillName]:
        """Return the skills whose commit the server no longer has, with one request for each repository."""

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, bool]:
            with concerning(*names):
                lost = repository.find_lost_commits({pins[name].commit for name in names})
            return {name: pins[name].commit in lost for name in names}

        is_lost = self.repositories.run_each({name: pin.url for name, pin in pins.items()}, work)
        return {name for name in pins if is_lost[name]}

    def verify_signature(self, pin: GitPin, allowed_signers: Sequence[str]) -> Digest:
        """Return the fingerprint of the allowed key that signed the tag or the commit of a pin, verified only once.

        Raises `SignatureError`, and `OfflineError` if the commit is not cached.
        """
        key = pin.url, pin.commit, pin.ref, *allowed_signers
        if key not in self._signers:
            name = SkillName(pin.url)

            def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, Digest | SignatureError]:
                try:
                    return {name: verify_signature(repository, pin, allowed_signers)}
                except SignatureError as error:
                    return {name: error}

            self._signers[key] = self.repositories.run_each({name: pin.url}, work)[name]
        if isinstance(found := self._signers[key], SignatureError):
            raise found
        return found

    @property
    def _log(self) -> LogFunctions:
        return self.reporter.warn, self.reporter.log_verbose

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Add the locked skills to the store; return descriptions of those that are missing offline."""
        pins = {name: skill.pin for name, skill in locked.items() if isinstance(skill.pin, GitPin)}
        missing: list[str] = []

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, FetchedSkill]:
            try:
                with concerning(*names):
                    fetched = self._fetch_locked(repository, {name: pins[name] for name in names}, locked)
            except OfflineError:
                missing.extend(f"{name} ({repository.url})" for name in names)
                return {}
            for name, skill in fetched.items():
                expected = locked[name].digest
                if skill.digest != expected:
                    shown, actual = shorten_distinct_digests(expected or "", skill.digest or "")
                    origin, advice = summarize_pin(pins[name]), EDITED_LOCK_HINT
                    raise DigestMismatch(name, locked=shown, actual=actual, origin=origin, advice=advice)
            for name in names:
                self.proofs.add(name, locked[name])
            return fetched

        self.repositories.run_each({name: pin.url for name, pin in pins.items()}, work)
        return sorted(missing)

    def find_excluded(self, pins: Mapping[SkillName, GitPin]) -> dict[SkillName, str]:
        """Return the newest commit on the branch of each pin that has other content there, but is too new."""
        newest = {
            name: commit for name, pin in pins.items() if (commit := self.cooldown.excluded.get((pin.url, pin.ref)))
        }

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, str]:
            trees = {name: read_tree_id(repository, newest[name], pins[name].path) for name in names}
            return {name: newest[name] for name in names if trees[name] != pins[name].tree}

        return self.repositories.run_each({name: pins[name].url for name in newest}, work)

    def find_commit_with_tree(self, source: GitSource, ref: str, tree: str) -> str:
        """Return the newest commit on a ref in which the source's folder has this tree id, or an empty string."""
        key = SkillName(source.url)

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, str]:
            return {key: find_commit_with_tree(repository, ref, source.path, tree)}

        return self.repositories.run_each({key: source.url}, work)[key]

    def list_available_skills(self, requests: Sequence[ListingRequest]) -> dict[ListingRequest, Listing | SkillpmError]:
        """List the skills that sources of one repository match, with the requests that one source takes.

        What is wrong with one source is returned in its place. Raises `FetchError` if the repository cannot be read.
        """
        key = SkillName(requests[0][0].url)

        def work(
            repository: Repository, _: Sequence[SkillName]
        ) -> dict[SkillName, dict[ListingRequest, Listing | SkillpmError]]:
            return {key: self._list_repository(repository, requests)}

        return self.repositories.run_each({key: key}, work)[key]

    def read_tagged_releases(
        self, source: GitSource, handle_release: ReleaseHandler, *, with_history: bool = False
    ) -> None:
        """Pass every tagged release of a source's skills to `handle_release`; all again if the cache was damaged."""

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, None]:
            read_tagged_releases(
                repository, source, self.settings, self.reporter, handle_release, with_history=with_history
            )
            return {}

        self.repositories.run_each({SkillName(source.url): source.url}, work)

    def _list_repository(
        self, repository: Repository, requests: Sequence[ListingRequest]
    ) -> dict[ListingRequest, Listing | SkillpmError]:
        found: dict[ListingRequest, _Found] = {}
        errors: dict[ListingRequest, SkillpmError] = {}
        all_skills = cache(partial(find_all_skills, repository))
        for request in requests:
            try:
                found[request] = self._find(repository, *request, all_skills)
            except (NotFoundError, RefusedError, ConflictError) as error:
                errors[request] = error
        # A single skill is about to be installed: fetch all of its files in the request that SKILL.md needs anyway.
        wanted = [
            WantedFolder(
                name=name_of(locations[0], UNREADABLE_SKILL, repository.url),
                tree=locations[0].tree,
                commit=commit,
                ref=ref,
                files=source.files,
            )
            for source, commit, ref, locations in found.values()
            if len(locations) == 1 and (source.path or source.skill)
        ]
        fetch_missing(repository, wanted, self.settings.limits)
        listings: dict[ListingRequest, Listing] = {}
        for request, (source, _, _, locations) in found.items():
            skills = read_skills(repository, locations)
            listings[request] = (
                source,
                [
                    AvailableSkill(
                        name=name_of(location, skills[location.path], repository.url),
                        description=skills[location.path].description,
                        source=source.replace(path=location.path, skill=""),
                    )
                    for location in locations
                ],
            )
        return {**listings, **errors}

    def _find(
        self,
        repository: Repository,
        source: GitSource,
        browser_path: str,
        find_all: Callable[[str], Sequence[SkillLocation]],
    ) -> "_Found":
        """Find the skills that a source matches; `find_all` finds all below a tree."""
        source = resolve_browser_path(repository, source, browser_path) if browser_path else source
        ref, source = resolve_ref(repository, source, source.skill, self._log)
        commit, root = exclude_newer_commits(repository, resolve_commits(repository, [ref]), self.cooldown)[ref]
        if source.path:
            locations = find_skills_at(repository, root, source)
        else:
            locations = find_all(root)
            if source.skill:
                locations = [find_by_name(repository, locations, source.skill, is_explicit=True)]
        return _Found(source, commit, ref, locations)

    def _pin_repository(
        self, repository: Repository, requested: Mapping[SkillName, GitSource]
    ) -> dict[SkillName, FetchedSkill]:
        refs, sources = {}, {}
        for name, source in requested.items():
            with concerning(name):
                refs[name], sources[name] = resolve_ref(repository, source, name, self._log)
        commits = self._resolve_commits(repository, refs)
        pins, errors = {}, []
        for name, ref in refs.items():
            commit, root = commits[ref]
            try:
                with concerning(name):
                    location = find_skill(repository, root, sources[name], name)
            except NotFoundError as error:
                errors.append(error)
                continue
            recorded_ref = "" if sources[name].kind == "rev" else ref
            pins[name] = GitPin(
                url=repository.url,
                commit=commit,
                tree=location.tree,
                path=location.path,
                ref=recorded_ref,
                files=sources[name].files,
            )
        if errors:
            raise errors[0] if len(errors) == 1 else SeveralNotFound(errors)
        fetched = self._store_skills(repository, pins)
        for name, skill in fetched.items():  # the trees were read from the commits
            self.proofs.add(name, skill)
        return fetched

    def _resolve_commits(self, repository: Repository, refs: Mapping[SkillName, str]) -> Mapping[str, tuple[str, str]]:
        """Return the commits and trees of refs; an error about one ref concerns the skills that follow it."""
        try:
            commits = resolve_commits(repository, sorted({*refs.values()}))
            return exclude_newer_commits(repository, commits, self.cooldown)
        except MissingRef as error:
            full_names = {error.name, f"refs/heads/{error.name}", f"refs/tags/{error.name}"}
            error.skills = tuple(name for name, ref in refs.items() if ref in full_names)
            raise

    def _fetch_locked(
        self, repository: Repository, pins: Mapping[SkillName, GitPin], locked: Mapping[SkillName, LockedSkill]
    ) -> dict[SkillName, FetchedSkill]:
        """Fetch what the store lacks, and prove what was not proved here before. Raises `OfflineError`."""
        digests = {name: locked[name].digest or Digest("") for name in pins}
        unproved = {name: pin for name, pin in pins.items() if not self.proofs.has(name, locked[name])}
        wanted = {name: pin for name, pin in pins.items() if not self.store.has(digests[name], variant_of(pin))}
        with prove_trees(repository, unproved, self.reporter):
            return self._store_skills(repository, wanted, is_locked=True)

    def _store_skills(
        self,
        repository: Repository,
        pins: Mapping[SkillName, GitPin],
        *,
        is_locked: bool = False,
    ) -> dict[SkillName, FetchedSkill]:
        """Fetch the pinned folders, check each of them, and add it to the store."""
        limits = self.settings.limits
        folders = [
            WantedFolder(
                name=name,
                tree=pin.tree,
                commit=pin.commit,
                ref=pin.ref,
                files=pin.files,
                pin=pin if is_locked else None,
            )
            for name, pin in pins.items()
        ]
        state = fetch_missing(repository, folders, limits)
        repository.content_arrived.set()  # perhaps nothing was missing
        skills: dict[SkillName, FetchedSkill] = {}
        for name, pin in pins.items():  # one in memory at a time
            entries = read_entries(repository, state.entries[pin.tree, pin.files], name, self.reporter.warn)
            for pattern in () if is_locked else find_unused_patterns(state.entries[pin.tree, pin.files], pin.files):
                self.reporter.warn(f"{name}: `{sanitize(pattern, 80)}` in `files` matches no file")
            with concerning(name):
                tree = check_tree(entries, name=name, limits=limits)
                skills[name] = read_metadata(tree, pin, name)
            self.store.add(tree, variant_of(pin))
        return skills
