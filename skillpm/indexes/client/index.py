"""What an index offers, whichever of the three kinds it is: ours, or a site of Agent Skills Discovery, new or old.

Ours is asked first, for the one document that is needed. Only where that is not there, one more question tells an
index that lacks the name from a site; what a site is, is found out once a run.
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, DocumentError, FetchError
from skillpm.formats.index_catalog import CATALOG_SCHEMA, read_catalog
from skillpm.formats.index_releases import Release, read_releases
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.well_known import ALL_PATHS, Site, SiteSkill, read_site
from skillpm.indexes.client.access import IndexAccess

FILES_KIND = "files"
MAX_WARNINGS = 10


class IndexRelease(Value):
    """A version of a skill as an index offers it; `url` is whole. `sha256` and `digest` are empty where nobody says.

    `dependencies` is None where only the skill itself knows them. A `url` that ends in a slash is a folder of `files`.
    """

    index: ConfiguredIndex
    url: str
    version: str = ""
    sha256: str = ""
    digest: str = ""
    dependencies: Mapping[str, Any] | None = None
    yanked: bool = False
    reason: str = ""
    published: str = ""
    kind: str = ""
    files: tuple[str, ...] = ()


class NotAnIndex(FetchError):
    """An address at which there is no index, neither ours nor a site's."""


class Index:
    """One index, read as far as it is asked."""

    def __init__(self, config: ConfiguredIndex, access: IndexAccess, warn: Callable[[str], None]) -> None:
        self.config = config
        self.access = access
        self.warn = warn
        self._site: tuple[str, Site] | None = None
        self._is_ours: bool | None = None
        self._releases: dict[SkillName, list[IndexRelease] | None] = {}
        self._lock = Lock()  # several names are looked up at once, and what an index is shall be asked once

    def list_releases(self, name: SkillName) -> list[IndexRelease] | None:
        """Give every version of a skill, the newest first; None where this index does not know it.

        Raises `FetchError` for an index that cannot be read: that is never the same as one that lacks a name.
        """
        if name not in self._releases:
            self._releases[name] = self._find_releases(name)
        return self._releases[name]

    def _find_releases(self, name: SkillName) -> list[IndexRelease] | None:
        address = f"{self.config.url}skills/{name}.json"
        text = None if self._site is not None else self.access.read_document(address)
        if text is not None:
            self._is_ours = True
            return [self._from_release(release) for release in read_releases(text, address, name).versions]
        with self._lock:
            if self._is_ours is None:
                self._is_ours = self.access.exists(f"{self.config.url}index.json")
            if self._is_ours:
                return None
            document, site = self.load_site()
        if name in site.duplicates:
            raise ConflictError(f"the index {self.config.name} has several skills called `{name}`", where=document)
        if name in site.invalid and not any(skill.name == name for skill in site.skills):
            # Passed over, it would be looked for in the next index, whose skill of that name is another one.
            raise DocumentError(
                f"the index {self.config.name} has `{name}`, and its entry cannot be understood",
                where=site.invalid[name],
                hint="tell whoever keeps the index; nothing was changed",
            )
        return next(([self._from_site_skill(document, skill)] for skill in site.skills if skill.name == name), None)

    def list_skills(self) -> list[tuple[str, str]] | None:
        """Give the name and the description of every skill; None where there is no index of any kind.

        Raises `DocumentError` for an index that cannot be understood.
        """
        address = f"{self.config.url}index.json"
        text = self.access.read_document(address)
        if text is not None and CATALOG_SCHEMA.rpartition(":")[0] in text:
            return [(skill.name, skill.description) for skill in read_catalog(text, address).skills]
        try:
            return sorted((skill.name, skill.description) for skill in self.load_site()[1].skills)
        except NotAnIndex:
            return None

    def load_site(self) -> tuple[str, Site]:
        """Give the address and the content of a site's index. Raises `FetchError` where there is none."""
        if self._site is None:
            tops = dict.fromkeys([self.config.url, self.access.host_root()])
            for path in ALL_PATHS:
                for top in tops:
                    text = self.access.read_document(top + path)
                    if text is not None:
                        self._site = (top + path, read_site(text, top + path))
                        self._warn_problems(self._site[1].problems)
                        return self._site
            raise NotAnIndex(
                f"there is no index at {sanitize(self.config.url)}: neither index.json nor {ALL_PATHS[0]}",
                where=self.config.defined_in,
                hint="check the address; it is the folder that holds index.json",
            )
        return self._site

    def _warn_problems(self, problems: Sequence[str]) -> None:
        for problem in problems[:MAX_WARNINGS]:
            self.warn(problem)
        if len(problems) > MAX_WARNINGS:
            self.warn(f"the index {self.config.name} has {len(problems) - MAX_WARNINGS} more entries that are left out")

    def _from_release(self, release: Release) -> IndexRelease:
        top = f"{self.config.url}index.json"
        return IndexRelease(
            index=self.config,
            url=self.access.resolve_url(top, release.url),
            version=release.version,
            sha256=release.sha256,
            digest=release.digest,
            dependencies=release.dependencies,
            yanked=release.yanked,
            reason=release.reason,
            published=release.published,
            kind="archive",
        )

    def _from_site_skill(self, document: str, skill: SiteSkill) -> IndexRelease:
        if skill.type == FILES_KIND:
            return IndexRelease(
                index=self.config,
                url=self.access.resolve_url(document, skill.name) + "/",
                kind=FILES_KIND,
                files=skill.files,
            )
        return IndexRelease(
            index=self.config, url=self.access.resolve_url(document, skill.url), sha256=skill.sha256, kind=skill.type
        )
