"""The releases of an index of any kind: a skillpm index, or a site of Agent Skills Discovery v0.2.0 or v0.1.0.

The document of a skillpm index is requested first. If it does not exist, a HEAD request for `index.json` distinguishes
an index that lacks the name from a site. The document of a site is read once.
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, DocumentError, FetchError, RefusedError, WebPageError
from skillpm.formats.index_catalog import CATALOG_SCHEMA, read_catalog
from skillpm.formats.index_releases import PublishedSignature, Release, read_releases
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.well_known import ALL_PATHS, Site, SiteSkill, read_site
from skillpm.indexes.client.access import IndexAccess

FILES_KIND = "files"
MAX_WARNINGS = 10


class IndexRelease(Value):
    """A version of a skill in an index."""

    index: ConfiguredIndex
    # As the document spells it. With a slash at its end, it is a folder that contains `files` (discovery v0.1.0).
    reference: str
    # Returns the URL of a reference, or raises `RefusedError`.
    resolve: Callable[[str], str] = str
    # Empty for a discovery site, which publishes no versions.
    version: str = ""
    # Of the artifact and of its content; empty if the index does not publish them.
    sha256: str = ""
    digest: str = ""
    # None if they are known only from the skill itself.
    dependencies: Mapping[str, Any] | None = None
    yanked: bool = False
    # Why it was yanked; may be empty.
    reason: str = ""
    # UTC, ISO 8601; empty if unknown.
    published: str = ""
    # That are published beside it.
    signatures: tuple[PublishedSignature, ...] = ()
    # `archive`, `skill-md` or `files`; empty for a locked release.
    kind: str = ""
    files: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The absolute URL. It is checked only now: an index may list ten thousand versions, and one is fetched."""
        return self.resolve(self.reference)


class NotAnIndex(FetchError):
    """An address without a skillpm index or a discovery site."""


class ReleaseBudget:
    """How many versions may be read from the documents of all indexes together.

    Documents are parsed one at a time, with `lock`, since that takes seven times their size.
    """

    def __init__(self, limit: int) -> None:
        self.lock = Lock()
        self._limit = limit
        self._count = 0

    def spend(self, count: int) -> None:
        """Count the versions of one more document. Raises `RefusedError` if there are too many by now."""
        self._count += count
        if self._count > self._limit:
            raise RefusedError(
                f"there are more than {self._limit} versions to choose from",
                hint="require fewer skills, or if you trust their indexes, raise SKILLPM_MAX_RELEASES",
            )


class Index:
    """One index. Documents are read when they are needed, and once."""

    def __init__(
        self, config: ConfiguredIndex, access: IndexAccess, warn: Callable[[str], None], budget: ReleaseBudget
    ) -> None:
        self.config = config
        self.access = access
        self.budget = budget
        self.warn = warn
        self._site: tuple[str, Site] | None = None
        self._is_skillpm_index: bool | None = None
        # The first document that was a web page. Some servers answer so for every path that does not exist, so this
        # is an error only if they have no index of any kind.
        self._page: WebPageError | None = None
        self._releases: dict[SkillName, list[IndexRelease] | None] = {}
        self._lock = Lock()  # names are looked up in parallel, and the kind of the index must be requested once

    def list_releases(self, name: SkillName) -> list[IndexRelease] | None:
        """Return all versions of a skill, newest first; None if the index does not contain it.

        Raises `FetchError` for an index that cannot be read. If it were treated as one that lacks the name,
        an attacker who can block it could choose which index answers instead.
        """
        if name not in self._releases:
            self._releases[name] = self._find_releases(name)
        return self._releases[name]

    def _find_releases(self, name: SkillName) -> list[IndexRelease] | None:
        address = f"{self.config.url}skills/{name}.json"
        text = None if self._site is not None else self._read_document(address)
        if text is not None:
            self._is_skillpm_index = True
            with self.budget.lock:
                self.budget.spend(0)
                releases = read_releases(text, address, name, check_count=self.budget.spend)
                return [self._from_release(release) for release in releases.versions]
        with self._lock:
            if self._is_skillpm_index is None:
                catalog = f"{self.config.url}index.json"
                has_page = self._page is not None
                is_there = self._read_document(catalog) is not None if has_page else self.access.exists(catalog)
                self._is_skillpm_index = is_there
            if self._is_skillpm_index and self._page is not None:
                raise self._page
            if self._is_skillpm_index:
                return None
            document, site = self.load_site()
        if name in site.duplicates:
            raise ConflictError(
                f"`{name}`: the index {self.config.name} has several skills with this name", where=document
            )
        if name in site.invalid and not any(skill.name == name for skill in site.skills):
            # If it were skipped, the next index would be asked, whose skill of that name is a different one.
            raise DocumentError(
                f"`{name}`: its entry in the index {self.config.name} is invalid",
                where=site.invalid[name],
                hint="report it to the index maintainer; nothing was changed",
            )
        return next(([self._from_site_skill(document, skill)] for skill in site.skills if skill.name == name), None)

    def list_skills(self) -> list[tuple[str, str]] | None:
        """Return the names and descriptions of all skills; None if there is no index of any kind.

        Raises `DocumentError` for an invalid index.
        """
        address = f"{self.config.url}index.json"
        text = self._read_document(address)
        if text is not None and CATALOG_SCHEMA.rpartition(":")[0] in text:
            return [(skill.name, skill.description) for skill in read_catalog(text, address).skills]
        try:
            return sorted((skill.name, skill.description) for skill in self.load_site()[1].skills)
        except NotAnIndex:
            return None

    def load_site(self) -> tuple[str, Site]:
        """Return the address and the content of a discovery site's document.

        Raises `NotAnIndex`, or `WebPageError` if a document was a web page.
        """
        if self._site is None:
            bases = dict.fromkeys([self.config.url, self.access.host_root()])
            for path in ALL_PATHS:
                for base in bases:
                    text = self._read_document(base + path)
                    if text is not None:
                        self._site = (base + path, read_site(text, base + path))
                        self._warn_problems(self._site[1].problems)
                        return self._site
            raise self._page or NotAnIndex(
                f"no index found at {sanitize(self.config.url)}: neither index.json nor {ALL_PATHS[0]} exists",
                where=self.config.defined_in,
                hint="check the address: it is the folder that contains index.json",
            )
        return self._site

    def _read_document(self, address: str) -> str | None:
        try:
            return self.access.read_document(address)
        except WebPageError as error:
            self._page = self._page or error
            return None

    def _warn_problems(self, problems: Sequence[str]) -> None:
        for problem in problems[:MAX_WARNINGS]:
            self.warn(problem)
        if len(problems) > MAX_WARNINGS:
            self.warn(f"skipped {len(problems) - MAX_WARNINGS} more entries of the index {self.config.name}")

    def _from_release(self, release: Release) -> IndexRelease:
        return IndexRelease(
            index=self.config,
            reference=release.url,
            resolve=self._resolve,
            version=release.version,
            sha256=release.sha256,
            digest=release.digest,
            dependencies=release.dependencies,
            yanked=release.yanked,
            reason=release.reason,
            published=release.published,
            signatures=release.signatures,
            kind="archive",
        )

    def _from_site_skill(self, document: str, skill: SiteSkill) -> IndexRelease:
        if skill.type == FILES_KIND:
            return IndexRelease(
                index=self.config,
                reference=self.access.resolve_url(document, skill.name) + "/",
                kind=FILES_KIND,
                files=skill.files,
            )
        return IndexRelease(
            index=self.config,
            reference=self.access.resolve_url(document, skill.url),
            sha256=skill.sha256,
            kind=skill.type,
        )

    def _resolve(self, reference: str) -> str:
        return self.access.resolve_url(f"{self.config.url}index.json", reference)
