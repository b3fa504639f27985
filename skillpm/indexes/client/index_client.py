"""The client of all indexes: finds releases, chooses versions and downloads their archives into the store."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import TypeVar

from skillpm.core.digest import Digest
from skillpm.core.exclude_newer import all_yanked_hint
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY, filter_versions, matches
from skillpm.errors import CHECK_LOCK_HINT, DigestMismatch, NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.fetchers.http.client import HttpClient
from skillpm.fetchers.http.parallel import run_parallel
from skillpm.formats.index_sources import NAMING_HINT, ConfiguredIndex
from skillpm.formats.lockfile import LockedSkill
from skillpm.indexes.client.access import open_access
from skillpm.indexes.client.artifacts import (
    MakeMismatchError,
    apply_release_version,
    check_declared_name,
    fetch_artifact,
    fetch_signatures,
    release_mismatch_error,
)
from skillpm.indexes.client.index import Index, IndexRelease, ReleaseBudget
from skillpm.kinds.index import IndexPin, IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Proofs, Store, StoreDamaged

Result = TypeVar("Result")


class IndexClient:
    """The indexes in the order of their priority, with one HTTP client for all."""

    def __init__(
        self,
        settings: Settings,
        base: str,
        store: Store,
        reporter: Reporter,
        configs: Sequence[ConfiguredIndex],
        destinations: Destinations,
    ) -> None:
        self.settings = settings
        self.base = base
        self.store = store
        self.proofs = Proofs(settings.cache_dir)
        self.reporter = reporter
        self.destinations = destinations
        destinations.name(*(config.url for config in configs))
        self._http_client: HttpClient | None = None
        self._lock = Lock()
        # By URL: a site publishes no versions, so its skill is downloaded to read the version, and again to pin it.
        self._site_skills: dict[str, FetchedSkill] = {}
        self._release_budget = ReleaseBudget(settings.limits.releases)
        self.indexes = [self._open_index(config) for config in configs]
        # By URL: indexes that a requirement names, but that are not configured.
        self._sites: dict[str, Index] = {}

    def indexes_for(self, source: IndexSource) -> list[Index]:
        """Return the indexes that may provide a skill: all, or the one that its source names or inherits."""
        if url := source.index_url or source.site:
            return [self.index_at(url)]
        return [index for index in self.indexes if source.index in {"", index.config.name}]

    def index_at(self, url: str) -> Index:
        """Return the configured index at a URL, with its token, or an unnamed one without."""
        with self._lock:
            index = next((index for index in self.indexes if index.config.url == url), self._sites.get(url))
            if index is None:
                config = ConfiguredIndex(name=url.partition("://")[2].partition("/")[0], url=url, defined_in=url)
                index = self._sites[url] = self._open_index(config)
            return index

    def find_releases(self, sources: Mapping[SkillName, IndexSource]) -> dict[SkillName, list[IndexRelease] | None]:
        """Return the releases of each skill in the first index that contains it; None for a skill that none contains.

        Later indexes are not even asked: a public index must not be able to replace a skill of a private one.
        """

        def find(name: SkillName) -> list[IndexRelease] | None:
            for index in self.indexes_for(sources[name]):
                releases = index.list_releases(SkillName(sources[name].name))
                if releases is not None:
                    return releases
            return None

        return self._run_parallel({name: source.index or source.site for name, source in sources.items()}, find)

    def list_versions(
        self, sources: Mapping[SkillName, IndexSource], releases: Mapping[SkillName, Sequence[IndexRelease] | None]
    ) -> dict[SkillName, list[AvailableVersion]]:
        """Return the releases for the resolver. A skill of a site is downloaded to read its version."""

        def list_one(name: SkillName) -> list[AvailableVersion]:
            source = sources[name].replace(version=ANY)
            available = releases[name] or ()
            if len(available) == 1 and not available[0].version:
                skill = self.fetch_newest({name: source}, releases)[name]
                return [AvailableVersion(version=skill.version, source=source, dependencies=skill.dependencies)]
            return [
                AvailableVersion(
                    version=item.version,
                    source=source.replace(version=f"=={item.version}"),
                    dependencies=item.dependencies,
                    yanked=item.yanked,
                    reason=item.reason,
                    published=item.published,
                    find_pin=partial(_pin_of, item),
                    digest=Digest(item.digest),
                )
                for item in available
            ]

        listed = {name: it.index or it.site for name, it in sources.items() if releases[name] is not None}
        return self._run_parallel(listed, list_one)

    def fetch_newest(
        self, sources: Mapping[SkillName, IndexSource], releases: Mapping[SkillName, Sequence[IndexRelease] | None]
    ) -> dict[SkillName, FetchedSkill]:
        """Add the newest release of each skill to the store, and return their metadata for the lockfile."""

        def fetch_one(name: SkillName) -> FetchedSkill:
            release = choose_newest(name, sources[name], releases[name] or ())
            if not release.version and release.url in self._site_skills:
                return apply_release_version(
                    name, sources[name], release, self._site_skills[release.url], self.reporter.warn
                )
            sha256, tree = self._read_from_store(release) or self._fetch_artifact(
                release, sources[name].name, lambda actual: release_mismatch_error(name, release, actual)
            )
            pin = _pin_of(release).replace(sha256=sha256)
            skill = read_metadata(tree, pin, name)
            check_declared_name(skill.declared_name, sources[name].name, release)
            if release.digest and tree.digest != release.digest:
                raise release_mismatch_error(name, release, tree.digest)
            self._site_skills[release.url] = skill
            skill = apply_release_version(name, sources[name], release, skill, self.reporter.warn)
            self.store.add(tree, pin.store_variant())
            self.proofs.add(name, skill)
            return skill

        origins = {name: next((item.index.url for item in releases[name] or ()), "") for name in sources}
        return self._run_parallel(origins, fetch_one)

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> None:
        """Add the locked skills to the store. Raises `DigestMismatch` for an archive with other content."""

        def fetch_one(name: SkillName) -> Digest:
            skill = locked[name]
            if not isinstance(skill.pin, IndexPin):
                raise TypeError("expected an IndexPin")
            index = self._find_index(name, skill.pin)
            origin = f"{skill.pin.url} (index {index.config.name})"
            pin, flag = skill.pin, self.settings.scope_flag

            def mismatch_error(actual: str, expected: str = pin.sha256) -> DigestMismatch:
                error = DigestMismatch(name, locked=expected, actual=actual, origin=origin, advice="")
                error.hint = "a published version must never change; report it to the index maintainer"
                error.hint += " (nothing was changed here)"
                return error

            # The expected checksum is the locked one: an index that replaced an archive would publish a new checksum.
            release = IndexRelease(
                index=index.config, reference=_check_archive_url(index, skill.pin, name, flag), sha256=skill.pin.sha256
            )
            tree = self._fetch_artifact(release, name, mismatch_error)[1]
            if tree.digest != skill.digest:
                raise mismatch_error(tree.digest, skill.digest or "")
            _check_release(index, name, skill, read_metadata(tree, skill.pin, name))
            self.proofs.add(name, skill)
            return self.store.add(tree, skill.pin.store_variant())

        self._run_parallel({name: getattr(skill.pin, "index", "") for name, skill in locked.items()}, fetch_one)

    def find_signatures(self, name: SkillName, pin: IndexPin) -> list[bytes]:
        """Return the signatures that an index publishes beside a locked archive, none of them verified."""
        index = self._find_index(name, pin)
        releases = [release for release in index.list_releases(name) or () if release.sha256 == pin.sha256]
        return [signature for release in releases for signature in fetch_signatures(index, release)]

    def _read_from_store(self, release: IndexRelease) -> tuple[str, FileTree] | None:
        """Return a release that is in the store already; None if it is missing or damaged."""
        if not release.digest or not self.store.has(Digest(release.digest), release.sha256):
            return None
        try:
            tree = self.store.read(Digest(release.digest), release.sha256)
        except StoreDamaged:
            return None
        return None if tree is None else (release.sha256, tree)

    def _fetch_artifact(self, release: IndexRelease, name: str, make_error: MakeMismatchError) -> tuple[str, FileTree]:
        index = self.index_at(release.index.url)
        task = f"fetching {sanitize(release.url)}"
        self.reporter.start_task(task, [name])
        try:
            return fetch_artifact(index, release, name, self.settings.limits, make_error)
        finally:
            self.reporter.finish_task(task)

    def _find_index(self, name: SkillName, pin: IndexPin) -> Index:
        for index in self.indexes:
            if index.config.url == pin.index:
                return index
        if "://" in pin.index:
            return self.index_at(pin.index)  # callers have checked that the manifest or a skill names it
        raise NotFoundError(
            f"`{name}` is locked to the index {sanitize(pin.index)}, which is not configured",
            hint=NAMING_HINT,
        )

    def _open_index(self, config: ConfiguredIndex) -> Index:
        access = open_access(
            config, self.settings, self.base, self._get_http_client, self.destinations, self.reporter.warn
        )
        return Index(config, access, self.reporter.warn, self._release_budget)

    def _get_http_client(self) -> HttpClient:
        with self._lock:
            if self._http_client is None:
                self._http_client = HttpClient(self.settings, self.reporter, self.destinations)
            return self._http_client

    def _run_parallel(
        self, origins: Mapping[SkillName, str], work: Callable[[SkillName], Result]
    ) -> dict[SkillName, Result]:
        """Call `work` for each name in parallel threads; `origins` are the indexes of the names."""
        return run_parallel(origins, work, self._interrupt)

    def _interrupt(self) -> None:
        if self._http_client is not None:
            self._http_client.stop_event.set()


def _check_release(index: Index, name: SkillName, locked: LockedSkill, skill: FetchedSkill) -> None:
    """Refuse an archive of another skill or version of the same index under the locked name and version.

    Its SKILL.md says which they are. The index is asked only if that differs, which is legitimate and rare.
    """
    url = skill.pin.url if isinstance(skill.pin, IndexPin) else ""
    if skill.declared_name in {"", name} and skill.version.removeprefix("v") == locked.version.removeprefix("v"):
        return
    if any(item.url == url and item.version in {"", locked.version} for item in index.list_releases(name) or ()):
        return
    raise RefusedError(
        f"`{name}` is locked to {sanitize(url)}, which the index {index.config.name} does not list as "
        f"{sanitize(f'{name} {locked.version}'.strip())}",
        where=f"skills.lock: skills.{name}",
        hint=CHECK_LOCK_HINT,
    )


def _pin_of(release: IndexRelease) -> IndexPin:
    return IndexPin(index=release.index.url, url=release.url, sha256=release.sha256)


def _check_archive_url(index: Index, pin: IndexPin, name: SkillName, scope_flag: str) -> str:
    """Return the URL of a locked archive, which must be inside its index or be listed by it.

    Raises `RefusedError` for any other URL: a lockfile that was tampered with could name any server.
    """
    if "://" not in pin.url:
        if not index.config.is_local:
            raise RefusedError(f"`{name}`: the index {pin.index} cannot refer to the local file {sanitize(pin.url)}")
        return pin.url  # `FolderAccess` checks that it is inside the folder
    url = index.access.resolve_url(index.config.url, pin.url)
    if url.startswith(index.config.url) and ".." not in url:
        return url
    if any(item.sha256 in {"", pin.sha256} and item.url == url for item in index.list_releases(name) or ()):
        return url
    raise RefusedError(
        f"`{name}` is locked to {sanitize(url)}, which the index {index.config.name} does not list",
        where=f"skills.lock: skills.{name}.source.url",
        hint="check who changed skills.lock; if the index moved its archives: "
        f"skillpm update{scope_flag} {shell_word(name)}",
    )


def choose_newest(name: SkillName, source: IndexSource, releases: Sequence[IndexRelease]) -> IndexRelease:
    """Return the newest release in a range that is not yanked. `releases` are sorted, newest first.

    A pre-release is chosen only if there is nothing else or the range names one. A single release without a version is
    returned as it is: its version is not known before it is downloaded. Raises `NotFoundError`.
    """
    if len(releases) == 1 and not releases[0].version:
        return releases[0]
    eligible = [item for item in releases if not item.yanked]
    in_range = {*filter_versions(source.version, [item.version for item in eligible])}
    candidates = [item for item in eligible if item.version in in_range]
    if candidates:
        return candidates[0]
    yanked = [item for item in releases if matches(source.version, item.version)]
    index = f"the index {releases[0].index.name}" if releases else "the index"
    if yanked:
        reason = f": {sanitize(yanked[0].reason)}" if yanked[0].reason else ""
        raise NotFoundError(
            f"`{name}` {yanked[0].version} was yanked from {index}{reason}",
            hint=_available_hint(releases, all_yanked_hint(name)),
        )
    raise NotFoundError(
        f"`{name}`: no version in {index} satisfies {source.version}",
        hint=_available_hint(releases, "require another version"),
    )


def _available_hint(releases: Sequence[IndexRelease], fallback: str) -> str:
    versions = [item.version for item in releases if item.version and not item.yanked]
    return f"available: {', '.join(versions[:10])}{' and more' if len(versions) > 10 else ''}" if versions else fallback  # noqa: PLR2004
