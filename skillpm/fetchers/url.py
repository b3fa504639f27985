"""Skills from an archive or a single SKILL.md, at a web address or on this machine."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.digest import content_hash, told_apart
from skillpm.core.file_tree import Tree
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.tree_checks import checked_tree
from skillpm.errors import DigestMismatch, FetchError, NotFoundError, OfflineError
from skillpm.events import Reporter
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.base import Found, variant_of
from skillpm.fetchers.metadata import described
from skillpm.files import told
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import UrlPin
from skillpm.requirements.source import UrlSource
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import Web


class UrlFetcher:
    """The fetcher for archives; relative files start at `base`, the manifest's folder."""

    def __init__(self, settings: Settings, base: str, store: Store, reporter: Reporter) -> None:
        self.settings = settings
        self.base = base
        self.store = store
        self.reporter = reporter
        self._web: Web | None = None
        self._seen: dict[str, tuple[UrlPin, Tree]] = {}

    def pin(self, wanted: Mapping[SkillName, UrlSource]) -> dict[SkillName, Found]:
        """Take each archive as it is now, and keep its content."""
        found = {}
        for name, source in wanted.items():
            if self.settings.offline and not _is_local(source.url):
                raise OfflineError([f"{name} ({source.url})"])
            pin, tree = self._looked_at(name, source.url)
            if source.digest and tree.digest != source.digest:
                raise _mismatch(name, source.digest, tree.digest, source.url)
            self.store.keep(tree, variant_of(pin))
            found[name] = described(tree, pin, name)
        return found

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> Sequence[str]:
        """Take the archives anew; the sum of the bytes is checked before anything looks into them."""
        missing = []
        for name, skill in locked.items():
            if not isinstance(skill.pin, UrlPin):
                continue
            if self.settings.offline and not _is_local(skill.pin.url):
                missing.append(f"{name} ({skill.pin.url})")
                continue
            data = self._data(skill.pin.url)
            if content_hash(data) != skill.pin.sha256:
                raise _mismatch(name, skill.pin.sha256, content_hash(data), skill.pin.url)
            tree = self._tree(name, data, skill.pin.url)
            if tree.digest != skill.digest:
                raise _mismatch(name, skill.digest or "", tree.digest, skill.pin.url)
            self.store.keep(tree, variant_of(skill.pin))
        return missing

    def _looked_at(self, name: str, url: str) -> tuple[UrlPin, Tree]:
        """Take an archive, once in a run: whoever installs one looks at it first, for its name."""
        if url not in self._seen:
            data = self._data(url)
            self._seen[url] = UrlPin(url=url, sha256=content_hash(data)), self._tree(name, data, url)
        return self._seen[url]

    def _tree(self, name: str, data: bytes, url: str) -> Tree:
        limits = self.settings.limits
        return checked_tree(read_archive(data, url, limits), name=name, limits=limits)

    def _data(self, url: str) -> bytes:
        limit = self.settings.limits.download
        if not _is_local(url):
            if self._web is None:
                from skillpm.fetchers.http.client import Web  # noqa: PLC0415  (114 ms that only archives from the web cost)

                self._web = Web(self.settings, self.reporter.note)
            self.reporter.started(f"fetching {show(url)}")
            try:
                return self._web.get(url, limit=limit).body
            finally:
                self.reporter.finished(f"fetching {show(url)}")
        path = os.path.join(self.base, self.settings.home + url[1:] if url.startswith("~/") else url)
        with told("read an archive", path):
            if not os.path.isfile(path):
                raise NotFoundError(f"there is no file {show(url)}", hint="relative ones start where skills.json is")
            with open(path, "rb") as file:
                data = file.read(limit + 1)
        if len(data) > limit:
            raise FetchError(f"{show(url)} is over {limit} bytes", hint="if you trust it, raise SKILLPM_MAX_DOWNLOAD")
        return data


def _is_local(url: str) -> bool:
    return "://" not in url


def _mismatch(name: str, locked: str, found: str, url: str) -> DigestMismatch:
    says, there = told_apart(locked, found)
    return DigestMismatch(name, locked=says, found=there, came_from=url)
