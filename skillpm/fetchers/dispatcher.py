"""Dispatch sources and pins to the fetcher of their kind.

Fetchers are imported on first use: a command without git sources never loads the git package.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING
from skillpm.errors import (
    DigestMismatch,
    DigestMismatches,
    NotFoundError,
    NotTrusted,
    RefusedError,
    SkillpmError,
    concerning,
)
from skillpm.events import Reporter
from skillpm.fetchers.common.base import (
    AvailableSkill,
    CollectionFetcher,
    FetchedSkill,
    Fetcher,
    IndexQueries,
    Listing,
    ListingRequest,
    LocalFetcher,
    SignatureFinder,
    VersionLister,
)
from skillpm.fetchers.common.copies import CopyRule
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.gate import OPEN, Cooldown, Gate
from skillpm.fetchers.dependents import Dependents
from skillpm.files import is_below
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.base import Pin, Source
from skillpm.kinds.git import GitPin, GitSource
from skillpm.kinds.index import IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.fetchers.common.local_paths import LocalPaths
    from skillpm.fetchers.git.git_fetcher import GitFetcher
    from skillpm.fetchers.mirrors.mirrors import Mirrors
    from skillpm.fetchers.oci.oci_fetcher import OciFetcher
    from skillpm.fetchers.packages.local import PathFetcher
    from skillpm.formats.oci.manifest import SkillManifest
    from skillpm.kinds.oci import OciPin

MAX_MISMATCH_CHECKS = 50


class FetcherDispatcher:
    """All fetchers of a command.

    `locate_git_cache` returns the path of the git cache when it is needed, `make_index_fetcher` creates the fetcher for
    indexes, a package above this one, and `gate` says what a scope allows. `locked`: the locked skills, whose warnings
    have been reported before.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        reporter: Reporter,
        locate_git_cache: Callable[[], str],
        make_index_fetcher: Callable[[Settings, Destinations], IndexQueries],
        gate: Gate = OPEN,
    ) -> None:
        self.settings = settings
        self.base = gate.base
        self.store = store
        self.reporter = reporter
        self.locate_git_cache = locate_git_cache
        self.make_index_fetcher = make_index_fetcher
        self.gate = gate
        self.destinations = Destinations(gate)
        self.cooldown = Cooldown(gate)
        self.copies = CopyRule(gate)
        self.locked: Mapping[SkillName, LockedSkill] = EMPTY_MAPPING
        self.known_layers: dict[str, Digest] = {}
        # What was found beside content, see `find_signatures`.
        self.signatures: dict[Pin, tuple[bytes, ...]] = {}
        self.open_mirrors = cache(self._open_mirrors)
        self._fetchers: dict[str, Fetcher] = {}
        self._dependents = Dependents()
        self._listings: dict[ListingRequest, Listing | SkillpmError] = {}
        self._repositories: dict[str, bool | None] = {}

    def name_sources(self, sources: Iterable[Source]) -> None:
        """Let the fetchers contact the servers of sources that the user wrote."""
        self.destinations.name(*(source.server_url() for source in sources))

    def with_locked(self, locked: Mapping[SkillName, LockedSkill]) -> "FetcherDispatcher":
        """Return the same fetchers with these skills as the locked ones: their warnings are not repeated."""
        other = copy(self)  # a shallow copy shares the fetchers, and so what they have already fetched
        other.locked = locked
        for name, skill in locked.items():
            self._dependents.add(name, skill.dependencies)
            if isinstance(skill.pin, GitPin):
                self.copies.locked[skill.pin.url, name] = skill.pin.path
                self.cooldown.locked.setdefault(skill.pin.url, set()).add(skill.pin.commit)
            if skill.pin.is_content_addressed and skill.digest:
                self.known_layers[skill.pin.store_variant()] = skill.digest
        return other

    def versions(
        self, sources: Mapping[SkillName, Source], *, dated: bool = False
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """List the versions of skills that are required by range: from an index, or from the tags of a repository."""
        self.gate.check_places(sources)
        versions: dict[SkillName, Sequence[AvailableVersion]] = {}
        for kind, names in _group_by_kind(sources).items():
            lister = cast("VersionLister", self._fetcher(kind))  # only sources of such kinds are required by range
            with self._dependents.explain(sources):
                versions |= lister.versions({name: sources[name] for name in names}, dated=dated)
        for name, item in ((name, item) for name, each in versions.items() for item in each):
            self._dependents.add(name, item.dependencies)
        return versions

    def pin(self, sources: Mapping[SkillName, Source], *, quiet: bool = False) -> dict[SkillName, FetchedSkill]:
        """Resolve sources to pins, and add their content to the store. `quiet` suppresses warnings."""
        self.gate.check_places(sources)
        skills: dict[SkillName, FetchedSkill] = {}
        for kind, names in _group_by_kind(sources).items():
            for batch in _split_batch(kind, names):
                with self._dependents.explain(sources), concerning(*batch):
                    skills |= self._fetcher(kind).pin({name: sources[name] for name in batch})
        self._report(skills, quiet=quiet)
        return skills

    def _report(self, skills: Mapping[SkillName, FetchedSkill], *, quiet: bool = False) -> None:
        """Record what pinned skills require, and report their warnings."""
        for name, skill in skills.items():
            self._dependents.add(name, skill.dependencies)
        if not quiet and any(skill.warnings or skill.nested_skills for skill in skills.values()):
            from skillpm.fetchers.notices import report_warnings  # noqa: PLC0415  (few skills have any)

            report_warnings(skills, self.locked, self.reporter)

    def pin_siblings(self, pin: Pin, names: Sequence[SkillName]) -> Mapping[SkillName, FetchedSkill]:
        """Return those of these skills that a repository has at the commit of a pin, and add them to the store."""
        self.gate.check_places({"": pin})
        skills = cast("GitFetcher", self._fetcher("git")).pin_siblings(cast("GitPin", pin), names)
        self._report(skills)
        return skills

    def pin_available(self, sources: Mapping[SkillName, Source]) -> dict[SkillName, FetchedSkill]:
        """Resolve those of these sources that exist and can be installed, without warnings."""
        remaining = dict(sources)
        while remaining:
            try:
                return self.pin(remaining, quiet=True)
            except (NotFoundError, RefusedError) as error:
                failed = error.skills or (*remaining,)
                remaining = {name: source for name, source in remaining.items() if name not in failed}
        return {}

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Add the content of locked skills to the store; return descriptions of what is missing offline."""
        self.gate.check_places({name: skill.pin for name, skill in locked.items()})
        missing: list[str] = []
        mismatches: list[DigestMismatch] = []
        if mirrors := self.open_mirrors():
            try:
                locked, missing = mirrors.fetch(locked)
            except DigestMismatch as error:
                raise error.in_scope(self._lockfile_path(), self.settings.scope_flag) from None
        for kind, names in _group_by_kind({name: skill.pin for name, skill in locked.items()}).items():
            try:
                for batch in _split_batch(kind, names):
                    with self._dependents.explain({name: locked[name].pin for name in batch}), concerning(*batch):
                        missing.extend(self._fetcher(kind).fetch({name: locked[name] for name in batch}))
            except DigestMismatch as error:
                mismatches.extend(self._find_mismatches(kind, error, {name: locked[name] for name in names}))
        if mismatches:
            mismatch = mismatches[0] if len(mismatches) == 1 else DigestMismatches(mismatches)
            raise mismatch.in_scope(self._lockfile_path(), self.settings.scope_flag)
        return missing

    def _find_mismatches(
        self, kind: str, first: DigestMismatch, locked: Mapping[SkillName, LockedSkill]
    ) -> list[DigestMismatch]:
        """Return every mismatch among the skills of a kind: the first one stopped the fetch of all others."""
        mismatches = {first.name: first}
        # A new fetcher: the old one was interrupted.
        fetcher = self._create_fetcher(kind)
        for name in sorted({*locked} - {first.name})[:MAX_MISMATCH_CHECKS]:
            try:
                fetcher.fetch({name: locked[name]})
            except DigestMismatch as error:
                mismatches[name] = error
            except SkillpmError:
                continue  # another failure: report only the mismatches
        return [mismatches[name] for name in sorted(mismatches)]

    def _lockfile_path(self) -> str:
        """Return the path of the lockfile, relative if that is short."""
        path = os.path.join(self.base, "skills.lock")
        cwd = self.settings.working_directory
        return os.path.relpath(path, cwd) if is_below(self.base, cwd) or is_below(cwd, self.base) else path

    def find_absence(self, source: Source) -> str:
        """Return that the folder or the package of a source is not there; empty if it is, or for another source."""
        if not source.is_read_each_time:
            return ""
        return cast("LocalFetcher", self._fetcher(source.scheme)).find_absence(source)

    def list_skills(self, source: Source) -> Sequence[AvailableSkill]:
        """List the skills of installed packages, or of a repository in a registry that the user named."""
        self.gate.check_places({"": source})
        self.name_sources([source])
        fetcher = cast("CollectionFetcher", self._fetcher(source.scheme))
        return fetcher.list_available_skills(source)

    def is_repository(self, url: str) -> bool | None:
        """Return whether git finds a repository at a URL of the user, as `GitFetcher` does; False if it may not ask."""
        if url not in self._repositories:
            source = GitSource(url=url)
            try:
                self.gate.check_places({"": source})
            except NotTrusted:
                return False
            self.name_sources([source])
            self._repositories[url] = not self.is_offline and cast("GitFetcher", self._fetcher("git")).is_repository(
                url
            )
        return self._repositories[url]

    def list_available_skills(self, source: GitSource, browser_path: str) -> Sequence[AvailableSkill]:
        """List the skills that a git source of the user matches."""
        return self.list_folder(source, browser_path)[1]

    def list_folder(self, source: GitSource, browser_path: str = "") -> tuple[GitSource, Sequence[AvailableSkill]]:
        """List the skills that a git source of the user matches, once per command.

        Returns the source, too, with its kind of ref and the path that a browser URL means.
        """
        self.list_together([(source, browser_path)])
        listing = self._listings[source, browser_path]
        if isinstance(listing, SkillpmError):
            raise listing
        return listing

    def list_together(self, requests: Iterable[ListingRequest]) -> None:
        """List the skills that git sources match, those of one repository with the requests that one takes.

        Repositories are read in parallel. `list_folder` returns what was listed, or raises the error of that source.
        """
        new = [request for request in dict.fromkeys(requests) if request not in self._listings]
        for source, _ in new:
            self.gate.check_places({"": source})
        if not new:
            return
        self.name_sources(source for source, _ in new)
        self._listings.update(cast("GitFetcher", self._fetcher("git")).list_available_skills(new))
        self._check_recorded([request for request in new if not isinstance(self._listings[request], SkillpmError)])

    def _check_recorded(self, requests: Sequence[ListingRequest]) -> None:
        """Replace the listing of a public repository by an error if the repository lacks its recorded commit.

        A user who names a ref has chosen the repository as it is now, and a locked one is known already (ADR 73).
        """
        locked = {url for url, _ in self.copies.locked}
        commits: dict[str, str] = {}
        for source, page in requests:
            is_chosen = bool(source.kind or page or source.url in locked)
            if "github.com" in source.url.casefold() and not (is_chosen or self.is_offline):
                from skillpm.fetchers.public_directory import find_recorded_commit  # noqa: PLC0415  (few are on GitHub)

                commits[source.url] = find_recorded_commit(source.url)
        pins = {SkillName(url): GitPin(url=url, commit=commit, tree="") for url, commit in commits.items() if commit}
        lost = self.find_lost_commits(pins) if pins else ()
        for request in requests:
            if (url := request[0].url) in lost:
                from skillpm.fetchers.public_directory import changed_hands_error  # noqa: PLC0415  (rare)

                self._listings[request] = changed_hands_error(url, commits[url])

    def find_excluded(self, pins: Mapping[SkillName, GitPin]) -> Mapping[SkillName, str]:
        """Return the newest commit on the branch of each pin that has other content there, but is too new."""
        return cast("GitFetcher", self._fetcher("git")).find_excluded(pins) if self.cooldown.excluded else {}

    def find_commit_with_tree(self, source: GitSource, ref: str, tree: str) -> str:
        """Return the newest commit on a ref in which a folder has this tree id, or an empty string."""
        return cast("GitFetcher", self._fetcher("git")).find_commit_with_tree(source, ref, tree)

    def has_skill(self, pin: GitPin, path: str) -> bool:
        """Return whether the commit of a pin has a skill in a folder, as far as it is cached."""
        return cast("GitFetcher", self._fetcher("git")).has_skill(pin, path)

    def find_tagged_commits(self, pins: Mapping[SkillName, GitPin]) -> Mapping[SkillName, str]:
        """Return the commits that the tags of these pins point at now; empty for a tag that is gone."""
        return cast("GitFetcher", self._fetcher("git")).find_tagged_commits(pins)

    def find_tagged_manifests(self, pins: "Mapping[SkillName, OciPin]") -> Mapping[SkillName, str]:
        """Return the manifests that the tags of these pins lead to now; empty for a tag that is gone."""
        return cast("OciFetcher", self._fetcher("oci")).find_tagged_manifests(pins) if pins else {}

    def read_manifests(self, pins: "Mapping[SkillName, OciPin]") -> Mapping[SkillName, "SkillManifest"]:
        """Return the manifests of skills in registries."""
        return cast("OciFetcher", self._fetcher("oci")).read_manifests(pins)

    def verify_git_signature(self, pin: GitPin, allowed_signers: Sequence[str]) -> str:
        """Return the fingerprint of the allowed key that signed the tag or the commit of a pin.

        Raises `SignatureError`, and `OfflineError` if the commit is not cached.
        """
        return cast("GitFetcher", self._fetcher("git")).verify_signature(pin, allowed_signers)

    def read_cosign_signatures(self, pin: "OciPin") -> Sequence[tuple[bytes, bytes]]:
        """Return the cosign signatures of a pin's manifest: payloads and signatures, none of them verified."""
        return cast("OciFetcher", self._fetcher("oci")).read_cosign_signatures(pin)

    def find_signatures(self, name: SkillName, pin: Pin) -> Sequence[bytes]:
        """Return the signatures that are published beside the content of a skill, none of them verified.

        `name` is that in the index. Asked for once a command. Raises `OfflineError`.
        """
        if pin not in self.signatures:
            fetcher = cast("SignatureFinder", self._fetcher(pin.scheme))
            self.signatures[pin] = tuple(fetcher.find_signatures(name, pin))
        return self.signatures[pin]

    def find_commits_off_branch(self, pins: Mapping[SkillName, GitPin]) -> Mapping[SkillName, str]:
        """Return where the commits of pins are, as `GitFetcher` does."""
        return cast("GitFetcher", self._fetcher("git")).find_commits_off_branch(pins)

    def read_commit_times(self, pins: Mapping[SkillName, GitPin]) -> Mapping[SkillName, int | None]:
        """Return the dates of the commits that are cached, as `GitFetcher` does."""
        return cast("GitFetcher", self._fetcher("git")).read_commit_times(pins)

    def find_lost_commits(self, pins: Mapping[SkillName, GitPin]) -> set[SkillName]:
        """Return the skills whose commit the server no longer has, as after a branch was rewritten."""
        return cast("GitFetcher", self._fetcher("git")).find_lost_commits(pins)

    def is_in_index(self, source: IndexSource) -> bool:
        """Return whether an index has a skill that the user named."""
        self.name_sources([source])
        return cast("IndexQueries", self._fetcher("index")).contains(source)

    def list_index_skills(self, url: str) -> list[tuple[str, str]] | None:
        """Return name and description of all skills of the index at a URL of the user; None if it is not an index."""
        self.gate.check_places({"": IndexSource(name="", index=url)})
        self.destinations.name(url)
        return cast("IndexQueries", self._fetcher("index")).list_skills(url)

    @property
    def origin_settings(self) -> Settings:
        """The settings of the fetchers for origins: offline, if mirrors replace all origins."""
        mirrors = self.open_mirrors()
        return self.settings if mirrors is None or mirrors.allows_origin else self.settings.replace(offline=True)

    @property
    def is_offline(self) -> bool:
        """Whether origins cannot be contacted."""
        return self.origin_settings.offline

    def _fetcher(self, kind: str) -> Fetcher:
        if kind not in self._fetchers:
            fetcher, mirrors = self._create_fetcher(kind), self.open_mirrors()
            if mirrors is not None and self.is_offline and not self.settings.offline:
                from skillpm.fetchers.mirrors.mirrors import ReplacedFetcher  # noqa: PLC0415

                fetcher = cast("Fetcher", ReplacedFetcher(fetcher, mirrors))
            self._fetchers[kind] = fetcher
        return self._fetchers[kind]

    def _open_mirrors(self) -> "Mirrors | None":
        replacement = self.gate.find_replacement()
        if replacement is None or not replacement.mirrors:
            return None
        from skillpm.fetchers.mirrors.mirrors import Mirrors  # noqa: PLC0415  (reads archives; few users have mirrors)

        return Mirrors(replacement, self.settings, self.store, self.reporter)

    def check_live_link(self, name: SkillName, path: str) -> None:
        """Raise `NotFoundError` unless the folder of a live link is there and is a skill."""
        cast("PathFetcher", self._fetcher("path")).check_live_link(name, path)

    def local_paths(self) -> "LocalPaths":
        """Return how paths of the manifest are resolved."""
        from skillpm.fetchers.common.local_paths import LocalPaths  # noqa: PLC0415  (only if a fetcher reads local files)

        return LocalPaths(base=self.base, home=self.settings.home, boundary=self.gate.boundary)

    def _create_fetcher(self, kind: str) -> Fetcher:
        settings = self.origin_settings
        if kind == "git":
            from skillpm.fetchers.git.git_fetcher import GitFetcher  # noqa: PLC0415

            cache = self.locate_git_cache()
            fetcher = GitFetcher(settings, self.store, self.reporter, cache, self.destinations, self.cooldown)
            fetcher.copies = self.copies
            return cast("Fetcher", fetcher)
        if kind == "path":
            from skillpm.fetchers.packages.local import PathFetcher  # noqa: PLC0415

            local = PathFetcher(self.local_paths(), settings.limits, self.store, self.reporter, settings.scope_flag)
            return cast("Fetcher", local)
        if kind == "bundled":
            from skillpm.fetchers.bundled import BundledFetcher  # noqa: PLC0415

            return cast("Fetcher", BundledFetcher(self.store, self.reporter, self.local_paths(), settings.scope_flag))
        if kind == "url":
            from skillpm.fetchers.url import UrlFetcher  # noqa: PLC0415

            paths = self.local_paths()
            return cast("Fetcher", UrlFetcher(settings, paths, self.store, self.reporter, self.destinations))
        if kind == "package":
            from skillpm.fetchers.packages.package_fetcher import PackageFetcher  # noqa: PLC0415

            return cast("Fetcher", PackageFetcher(settings, self.base, self.store, self.reporter))
        if kind == "oci":
            from skillpm.fetchers.oci.oci_fetcher import OciFetcher  # noqa: PLC0415

            oci = OciFetcher(settings, self.store, self.reporter, self.destinations, self.known_layers)
            return cast("Fetcher", oci)
        return cast("Fetcher", self.make_index_fetcher(settings, self.destinations))


def _group_by_kind(sources_or_pins: Mapping[SkillName, Any]) -> dict[str, list[SkillName]]:
    groups: dict[str, list[SkillName]] = {}
    for name, source_or_pin in sources_or_pins.items():
        groups.setdefault(source_or_pin.scheme, []).append(name)
    return dict(sorted(groups.items()))


def _split_batch(kind: str, names: Sequence[SkillName]) -> Sequence[Sequence[SkillName]]:
    """Return the names that are fetched together: all of git and of indexes, which record whom an error concerns."""
    return [names] if kind in {"git", "index", "oci"} else [[name] for name in names]
