"""Fetch skills from an archive or a single SKILL.md, at a URL or in a local file."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.digest import content_hash, shorten_distinct_digests
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.errors import DigestMismatch, FetchError, NotFoundError, OfflineError
from skillpm.events import Reporter
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.local_paths import LocalPaths
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.files import translate_os_errors
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.archive import UrlPin, UrlSource
from skillpm.kinds.base import is_local
from skillpm.settings import Settings
from skillpm.store import Proofs, Store

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient


class UrlFetcher:
    """The fetcher for archives, of the web or local ones."""

    def __init__(
        self, settings: Settings, paths: LocalPaths, store: Store, reporter: Reporter, destinations: Destinations
    ) -> None:
        self.settings = settings
        self.paths = paths
        self.store = store
        self.proofs = Proofs(settings.cache_dir)
        self.reporter = reporter
        self.destinations = destinations
        self._http_client: HttpClient | None = None
        self._cache: dict[str, tuple[UrlPin, FileTree]] = {}

    def pin(self, sources: Mapping[SkillName, UrlSource]) -> dict[SkillName, FetchedSkill]:
        """Download each archive as it is now, and add its content to the store."""
        skills = {}
        for name, source in sources.items():
            if self.settings.offline and not is_local(source.url):
                raise OfflineError([f"{name} ({source.url})"])
            pin, tree = self._read_once(name, source.url)
            if source.digest and tree.digest != source.digest:
                raise _mismatch_error(name, source.digest, tree.digest, source.url)
            self.store.add(tree, pin.store_variant())
            skills[name] = read_metadata(tree, pin, name)
            self.proofs.add(name, skills[name])
        return skills

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> Sequence[str]:
        """Download the locked archives; the checksum of each is verified before it is opened."""
        missing = []
        for name, skill in locked.items():
            if not isinstance(skill.pin, UrlPin):
                continue
            if self.settings.offline and not is_local(skill.pin.url):
                missing.append(f"{name} ({skill.pin.url})")
                continue
            data = self._read_data(skill.pin.url, name)
            if content_hash(data) != skill.pin.sha256:
                raise _mismatch_error(name, skill.pin.sha256, content_hash(data), skill.pin.url)
            tree = self._read_tree(name, data, skill.pin.url)
            if tree.digest != skill.digest:
                raise _mismatch_error(name, skill.digest or "", tree.digest, skill.pin.url)
            self.store.add(tree, skill.pin.store_variant())
            self.proofs.add(name, skill)
        return missing

    def _read_once(self, name: str, url: str) -> tuple[UrlPin, FileTree]:
        """Download an archive once per command: `install` first opens it to find the skill's name."""
        if url not in self._cache:
            data = self._read_data(url, name)
            self._cache[url] = UrlPin(url=url, sha256=content_hash(data)), self._read_tree(name, data, url)
        return self._cache[url]

    def _read_tree(self, name: str, data: bytes, url: str) -> FileTree:
        limits = self.settings.limits
        return check_tree(read_archive(data, url, limits), name=name, limits=limits)

    def _read_data(self, url: str, name: str) -> bytes:
        limit = self.settings.limits.download
        if not is_local(url):
            if self._http_client is None:
                from skillpm.fetchers.http.client import HttpClient  # noqa: PLC0415  (114 ms, only for archives from the web)

                self._http_client = HttpClient(self.settings, self.reporter, self.destinations)
            self.reporter.start_task(f"fetching {sanitize(url)}", [name] if name else [])
            try:
                return self._http_client.get(url, limit=limit).body
            finally:
                self.reporter.finish_task(f"fetching {sanitize(url)}")
        path = self.paths.check(url, name)
        with translate_os_errors("read an archive", path):
            if not os.path.isfile(path):
                raise NotFoundError(
                    f"there is no file {sanitize(url)}", hint="relative paths start at the folder of skills.json"
                )
            with open(path, "rb") as file:
                data = file.read(limit + 1)
        if len(data) > limit:
            raise FetchError(
                f"{sanitize(url)} is over {limit} bytes", hint="if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            )
        return data


def _mismatch_error(name: str, locked: str, actual: str, url: str) -> DigestMismatch:
    shown_locked, shown_actual = shorten_distinct_digests(locked, actual)
    return DigestMismatch(name, locked=shown_locked, actual=shown_actual, origin=url)
