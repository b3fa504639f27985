"""Fetch skills from git: grouped by repository, and several repositories in parallel."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.digest import Digest, shorten_distinct_digests
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.errors import (
    EDITED_LOCK_HINT,
    DigestMismatch,
    NotFoundError,
    OfflineError,
    RefusedError,
    SeveralNotFound,
    SeveralRefused,
    SignatureError,
    SkillpmError,
    concerning,
)
from skillpm.events import Reporter
from skillpm.fetchers.common.base import FetchedSkill, Listing, ListingRequest
from skillpm.fetchers.common.copies import CopyRule
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.gate import Cooldown
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.fetchers.git.fetch_strategies import fetch_missing, wanted_folders
from skillpm.fetchers.git.history import exclude_newer_commits, find_commit_with_tree, is_on_branch, read_commit_times
from skillpm.fetchers.git.outside_links import (
    follow_links,
    left_out_warnings,
    read_outside,
)
from skillpm.fetchers.git.program.error_table import AccessDenied
from skillpm.fetchers.git.program.errors import MissingCommit, MissingRef
from skillpm.fetchers.git.refs import resolve_commits, resolve_ref
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.repository_pool import RepositoryPool
from skillpm.fetchers.git.skill_finder import (
    add_submodule_hint,
    find_available,
    find_skill,
)
from skillpm.fetchers.git.tree_proof import find_difference, prove_trees
from skillpm.fetchers.git.tree_walk import read_entries, read_entry
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.git import GitPin, GitSource
from skillpm.requirements.repository_url import subgroup_hint
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Proofs, Store

if TYPE_CHECKING:
    from skillpm.fetchers.git.tagged_releases import ReleaseHandler
    from skillpm.fetchers.git.tags import LogFunctions


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
        self.copies = CopyRule()
        # What this command has pinned, since a resolution without the refused skills asks for the others again.
        self._pinned: dict[tuple[SkillName, GitPin], FetchedSkill] = {}
        self._signers: dict[tuple[str, ...], Digest | SignatureError] = {}
        self.repositories = RepositoryPool(settings, reporter, cache, destinations)
        self._anonymous = RepositoryPool(settings, reporter, cache, destinations, is_anonymous=True)

    def is_repository(self, url: str) -> bool | None:
        """Return whether a URL is that of a repository, without a login; None if the server requires one."""
        try:
            name = SkillName(url)
            self._anonymous.run_each({name: url}, lambda repository, _: {name: repository.find_branch_tips(["HEAD"])})
        except AccessDenied:
            return None
        except SkillpmError:
            return False
        return True

    def pin(self, sources: Mapping[SkillName, GitSource]) -> dict[SkillName, FetchedSkill]:
        """Resolve each source to its newest commit, and add the skills to the store."""

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, FetchedSkill]:
            with concerning(*names):
                return self._pin_repository(repository, {name: sources[name] for name in names})

        return self.repositories.run_each({name: source.url for name, source in sources.items()}, work)

    def pin_siblings(self, pin: GitPin, names: Sequence[SkillName]) -> dict[SkillName, FetchedSkill]:
        """Return those of these skills that a repository has at the commit of a pin, and add them to the store."""

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, FetchedSkill]:
            _, root = resolve_commits(repository, [pin.commit])[pin.commit]
            locations = find_available(repository, root, names, self.copies)
            return self._store_skills(
                repository,
                {name: pin.replace(tree=it.tree, path=it.path, files=(), links=()) for name, it in locations.items()},
            )

        fetched = self.repositories.run_each(dict.fromkeys(names, pin.url), work)
        for name, skill in fetched.items():
            self.proofs.add(name, skill)
        return fetched

    def versions(
        self, sources: Mapping[SkillName, GitSource], *, dated: bool = False
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """List the tagged versions of skills, with one request for each repository."""
        from skillpm.fetchers.git.tags import list_tag_versions  # noqa: PLC0415  (only for ranges)

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

    def read_commit_times(self, pins: Mapping[SkillName, GitPin]) -> dict[SkillName, int | None]:
        """Return the committer dates, in seconds since 1970; None for a commit that is not cached."""

        def work(repository: Repository, names: Sequence[SkillName]) -> dict[SkillName, int | None]:
            times = read_commit_times(repository, {pins[name].commit for name in names})
            return {name: times.get(pins[name].commit) for name in names}

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
        from skillpm.fetchers.git.signatures import verify_signature  # noqa: PLC0415  (few users trust signers of commits)

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
    def _log(self) -> "LogFunctions":
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
            except MissingCommit as error:
                update = " ".join(["skillpm update", *filter(None, [self.settings.scope_flag]), *error.skills])
                error.hint = f"its branch may have been rewritten; `{update}` locks what it has now"
                raise
            for name, skill in fetched.items():
                expected = locked[name].digest
                if skill.digest != expected:
                    shown, actual = shorten_distinct_digests(expected or "", skill.digest or "")
                    origin, advice = pins[name].summarize(), EDITED_LOCK_HINT
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
            return {name: newest[name] for name in names if find_difference(repository, pins[name], newest[name]) != ()}

        return self.repositories.run_each({name: pins[name].url for name in newest}, work)

    def has_skill(self, pin: GitPin, path: str) -> bool:
        """Return whether the commit of a pin has a skill in a folder; False if its trees are not cached."""
        key = SkillName(pin.url)

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, bool]:
            found = (read_entry(repository, pin.commit, f"{path}/{file}") for file in SKILL_FILES)
            return {key: any(entry is not None and entry[0] for entry in found)}

        return self.repositories.run_each({key: pin.url}, work)[key]

    def find_commit_with_tree(self, source: GitSource, ref: str, tree: str) -> str:
        """Return the newest commit on a ref in which the source's folder has this tree id, or an empty string."""
        key = SkillName(source.url)

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, str]:
            return {key: find_commit_with_tree(repository, ref, source.path, tree)}

        return self.repositories.run_each({key: source.url}, work)[key]

    def list_available_skills(self, requests: Sequence[ListingRequest]) -> dict[ListingRequest, Listing | SkillpmError]:
        """List the skills that sources match, those of one repository with the requests that one source takes.

        Repositories are read in parallel. What is wrong with one source, or one repository, is returned in its place.
        """
        from skillpm.fetchers.git.listing import SkillLister  # noqa: PLC0415  (not for what is locked)

        groups: dict[str, list[ListingRequest]] = {}
        for request in requests:
            groups.setdefault(request[0].url, []).append(request)
        lister = SkillLister(self.settings.limits, self.reporter, self.cooldown, self.copies, self._log)
        found = self.repositories.run_independently(
            groups, lambda repository: lister.list_skills(repository, groups[repository.url])
        )
        listings: dict[ListingRequest, Listing | SkillpmError] = {}
        for url, result in found.items():
            if isinstance(result, SkillpmError):
                hints = [hint for source, page in groups[url] if not page and (hint := subgroup_hint(source))]
                result.hint = "; ".join(dict.fromkeys([result.hint, *hints]))
                listings |= dict.fromkeys(groups[url], result)
            else:
                listings |= result
        return listings

    def read_tagged_releases(
        self, source: GitSource, handle_release: "ReleaseHandler", *, with_history: bool = False
    ) -> None:
        """Pass every tagged release of a source's skills to `handle_release`; all again if the cache was damaged."""
        from skillpm.fetchers.git.tagged_releases import read_tagged_releases  # noqa: PLC0415  (only to publish)

        def work(repository: Repository, _: Sequence[SkillName]) -> dict[SkillName, None]:
            read_tagged_releases(
                repository, source, self.settings, self.reporter, handle_release, with_history=with_history
            )
            return {}

        self.repositories.run_each({SkillName(source.url): source.url}, work)

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
                    location = find_skill(repository, root, sources[name], name, self.copies)
            except NotFoundError as error:
                add_submodule_hint(repository, root, sources[name], name, error)
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
        wanted = {name: pin for name, pin in pins.items() if not self.store.has(digests[name], pin.store_variant())}
        with prove_trees(repository, unproved, self.reporter):
            return self._store_skills(repository, wanted, is_locked=True)

    def _store_skills(
        self,
        repository: Repository,
        pins: Mapping[SkillName, GitPin],
        *,
        is_locked: bool = False,
    ) -> dict[SkillName, FetchedSkill]:
        """Fetch the pinned folders, check them, and add them to the store."""
        limits = self.settings.limits
        # Locked skills are those that the store lacks, perhaps because it was emptied after this command pinned them.
        pinned = {} if is_locked else self._pinned
        skills = {name: pinned[name, pin] for name, pin in pins.items() if (name, pin) in pinned}
        requested = pins = {name: pin for name, pin in pins.items() if name not in skills}
        state = fetch_missing(repository, wanted_folders(pins, is_locked=is_locked), limits)
        refused: list[RefusedError] = []
        if not is_locked:
            followed: dict[SkillName, GitPin] = {}
            for name, pin in pins.items():
                try:
                    followed |= follow_links(repository, {name: pin}, state.entries)
                except RefusedError as error:
                    refused.append(error)
            if followed != pins:
                pins, state = followed, fetch_missing(repository, wanted_folders(followed), limits)
        repository.content_arrived.set()  # perhaps nothing was missing
        for name, pin in pins.items():  # one in memory at a time
            listed = state.entries[pin.tree, pin.files]
            if pin.files and not is_locked:
                from skillpm.fetchers.common.file_patterns import find_unused_patterns  # noqa: PLC0415  (few have some)

                for pattern in find_unused_patterns(listed, pin.files):
                    self.reporter.warn(f"{name}: `{sanitize(pattern, 80)}` in `files` matches no file")
            try:
                with concerning(name):
                    entries = [*read_entries(repository, listed, name, self.reporter.warn)]
                    outside = read_outside(repository, pin, entries, state.targets, name, self.reporter.warn)
                    tree = check_tree(entries, name=name, limits=limits, outside=outside)
                    skill = read_metadata(tree, pin, name)
            except RefusedError as error:
                refused.append(error)
                continue
            left_out = left_out_warnings(repository, pin, listed, name)
            skills[name] = skill.replace(warnings=(*skill.warnings, *left_out))
            self.store.add(tree, pin.store_variant())
            pinned[name, requested[name]] = skills[name]
        if refused:
            raise refused[0] if len(refused) == 1 else SeveralRefused(refused)
        return skills
