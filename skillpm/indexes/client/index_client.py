"""All indexes of a run, opened: who knows a name, which version is taken, and its bytes into the store."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from skillpm.core.digest import Digest
from skillpm.core.exclude_newer import Cutoff
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY
from skillpm.errors import DigestMismatch, NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.base import FetchedSkill, variant_of
from skillpm.fetchers.http.client import HttpClient
from skillpm.fetchers.metadata import read_metadata
from skillpm.formats.index_sources import NAMING_HINT, ConfiguredIndex
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import IndexPin
from skillpm.indexes.client.access import open_access
from skillpm.indexes.client.artifacts import (
    MakeMismatchError,
    apply_release_version,
    check_declared_name,
    fetch_artifact,
    release_mismatch_error,
)
from skillpm.indexes.client.index import Index, IndexRelease
from skillpm.indexes.client.version_choice import choose_newest
from skillpm.requirements.source import IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Store, StoreDamaged

MAX_PARALLEL = 8
Result = TypeVar("Result")


class IndexClient:
    """The indexes in the order they are asked, over one web client."""

    def __init__(
        self, settings: Settings, base: str, store: Store, reporter: Reporter, configs: Sequence[ConfiguredIndex]
    ) -> None:
        self.settings = settings
        self.base = base
        self.store = store
        self.reporter = reporter
        self._http_client: HttpClient | None = None
        self._lock = Lock()
        self._site_skills: dict[str, FetchedSkill] = {}
        self.indexes = [self._open_index(place) for place in configs]
        self._sites: dict[str, Index] = {}

    def indexes_for(self, source: IndexSource) -> list[Index]:
        """Give the indexes that may be asked for a skill: all, or the one that is named."""
        if source.index_url:
            return [self.index_at(source.index_url)]
        return [index for index in self.indexes if source.index in {"", index.config.name}]

    def index_at(self, url: str) -> Index:
        """Give the index at an address: the configured one, with its token, else one that nobody gave a name."""
        with self._lock:
            known = next((index for index in self.indexes if index.config.url == url), self._sites.get(url))
            if known is None:
                place = ConfiguredIndex(name=url.partition("://")[2].partition("/")[0], url=url, defined_in=url)
                known = self._sites[url] = self._open_index(place)
            return known

    def find_releases(self, sources: Mapping[SkillName, IndexSource]) -> dict[SkillName, list[IndexRelease] | None]:
        """Ask who knows these names, several at once. No name is ever looked for behind the first that knows it."""

        def ask(name: SkillName) -> list[IndexRelease] | None:
            for index in self.indexes_for(sources[name]):
                found = index.list_releases(SkillName(sources[name].name))
                if found is not None:
                    return found
            return None

        return self._run_parallel(list(sources), ask)

    def list_versions(
        self, sources: Mapping[SkillName, IndexSource], releases: Mapping[SkillName, Sequence[IndexRelease] | None]
    ) -> dict[SkillName, list[AvailableVersion]]:
        """Give what is offered as a resolver asks for it. A site's one version is looked at for its number."""

        def one(name: SkillName) -> list[AvailableVersion]:
            source = sources[name].replace(version=ANY)
            offerings = releases[name] or ()
            if len(offerings) == 1 and not offerings[0].version:
                found = self.fetch_newest({name: source}, releases)[name]
                return [AvailableVersion(version=found.version, source=source, dependencies=found.dependencies)]
            return [
                AvailableVersion(
                    version=item.version,
                    source=source.replace(version=f"=={item.version}"),
                    dependencies=item.dependencies,
                    yanked=item.yanked,
                    reason=item.reason,
                    published=item.published,
                    pin=IndexPin(index=item.index.url, url=item.url, sha256=item.sha256),
                    digest=Digest(item.digest),
                )
                for item in offerings
            ]

        return self._run_parallel([name for name in sources if releases[name] is not None], one)

    def find_newest(self, name: SkillName, source: IndexSource, cutoff: Cutoff) -> str | None:
        """Give the newest version in a range, empty for one without a number; None where no index knows the name."""
        offered = self.find_releases({name: source})[name]
        return None if offered is None else choose_newest(name, source, offered, cutoff).version

    def fetch_newest(
        self, sources: Mapping[SkillName, IndexSource], releases: Mapping[SkillName, Sequence[IndexRelease] | None]
    ) -> dict[SkillName, FetchedSkill]:
        """Bring the newest of each into the store, and give what a lockfile says of it."""

        def one(name: SkillName) -> FetchedSkill:
            offering = choose_newest(name, sources[name], releases[name] or ())
            if not offering.version and offering.url in self._site_skills:
                return apply_release_version(
                    name, sources[name], offering, self._site_skills[offering.url], self.reporter.warn
                )
            sha256, tree = self._read_from_store(offering) or self._fetch_artifact(
                offering, sources[name].name, lambda found: release_mismatch_error(name, offering, found)
            )
            pin = IndexPin(index=offering.index.url, url=offering.url, sha256=sha256)
            found = read_metadata(tree, pin, name)
            check_declared_name(found.declared_name, sources[name].name, offering)
            if offering.digest and tree.digest != offering.digest:
                raise release_mismatch_error(name, offering, tree.digest)
            self._site_skills[offering.url] = found
            found = apply_release_version(name, sources[name], offering, found, self.reporter.warn)
            self.store.add(tree, variant_of(pin))
            return found

        return self._run_parallel(list(sources), one)

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> None:
        """Bring exactly the locked bytes into the store. Raises `DigestMismatch` for others."""

        def one(name: SkillName) -> Digest:
            skill = locked[name]
            if not isinstance(skill.pin, IndexPin):
                raise TypeError("only pins of an index come here")
            index = self._find_index(name, skill.pin)
            came_from = f"{skill.pin.url} (index {index.config.name})"
            pin = skill.pin

            def wrong(found: str, locked: str = pin.sha256) -> DigestMismatch:
                error = DigestMismatch(name, locked=locked, actual=found, origin=came_from)
                error.hint = "nothing was changed; what is published must never change: ask whoever keeps the index"
                return error

            # The lock is what is trusted here: the index is not asked what the sum should be.
            offering = IndexRelease(
                index=index.config, url=_check_archive_url(index, skill.pin, name), sha256=skill.pin.sha256
            )
            tree = self._fetch_artifact(offering, name, wrong)[1]
            if tree.digest != skill.digest:
                raise wrong(tree.digest, skill.digest or "")
            return self.store.add(tree, variant_of(skill.pin))

        self._run_parallel(list(locked), one)

    def _read_from_store(self, release: IndexRelease) -> tuple[str, FileTree] | None:
        """Give what the store has already of a version; a damaged copy is none."""
        if not release.digest or not self.store.has(Digest(release.digest), release.sha256):
            return None
        try:
            tree = self.store.read(Digest(release.digest), release.sha256)
        except StoreDamaged:
            return None
        return None if tree is None else (release.sha256, tree)

    def _fetch_artifact(self, release: IndexRelease, name: str, make_error: MakeMismatchError) -> tuple[str, FileTree]:
        index = self.index_at(release.index.url)
        what = f"fetching {sanitize(release.url)}"
        self.reporter.start_task(what)
        try:
            return fetch_artifact(index, release, name, self.settings.limits, make_error)
        finally:
            self.reporter.finish_task(what)

    def _find_index(self, name: SkillName, pin: IndexPin) -> Index:
        for index in self.indexes:
            if index.config.url == pin.index:
                return index
        if "://" in pin.index:
            return self.index_at(pin.index)  # that the manifest or a skill names it was looked at before
        raise NotFoundError(
            f"`{name}` is locked to the index {sanitize(pin.index)}, which nobody configured",
            hint=NAMING_HINT,
        )

    def _open_index(self, config: ConfiguredIndex) -> Index:
        access = open_access(config, self.settings, self.base, self._get_http_client, self.reporter.warn)
        return Index(config, access, self.reporter.warn)

    def _get_http_client(self) -> HttpClient:
        with self._lock:
            if self._http_client is None:
                self._http_client = HttpClient(self.settings, self.reporter.log_verbose)
            return self._http_client

    def _run_parallel(self, names: Sequence[SkillName], work: Callable[[SkillName], Result]) -> dict[SkillName, Result]:
        """Do the work for each name, several at once; the first failure ends all."""
        if len(names) < 2:  # noqa: PLR2004  (nothing to share out)
            return {name: work(name) for name in names}
        with ThreadPoolExecutor(MAX_PARALLEL) as pool:
            jobs = {name: pool.submit(work, name) for name in names}
            try:
                return {name: job.result() for name, job in jobs.items()}
            except BaseException:
                if self._http_client is not None:
                    self._http_client.stop_event.set()
                pool.shutdown(cancel_futures=True)
                raise


def _check_archive_url(index: Index, pin: IndexPin, name: SkillName) -> str:
    """Give where a locked archive is: below its index, or where the index itself says that it is.

    Raises `RefusedError` for any other place: a lockfile brings nothing in from where the index does not lead.
    """
    if "://" not in pin.url:
        if not index.config.is_local:
            raise RefusedError(f"the index {pin.index} cannot lead to {sanitize(pin.url)}, on this machine")
        return pin.url  # and the folder looks whether it lies in it
    url = index.access.resolve_url(index.config.url, pin.url)
    if url.startswith(index.config.url) and ".." not in url:
        return url
    if any(item.url == url and item.sha256 in {"", pin.sha256} for item in index.list_releases(name) or ()):
        return url
    raise RefusedError(
        f"`{name}` is locked to {sanitize(url)}, and the index {index.config.name} says nothing of that",
        where=f"skills.lock: skills.{name}.source.url",
        hint=f"find out who changed the lockfile; if the index has moved its archives: skillpm update {name}",
    )
