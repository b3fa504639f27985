"""What an index offers, whichever of the three kinds it is: ours, or a site of Agent Skills Discovery, new or old.

Ours is asked first, for the one document that is needed. Only where that is not there, one more question tells an
index that lacks the name from a site; what a site is, is found out once a run.
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import ConflictError, DocumentError, FetchError
from skillpm.formats.index_catalog import CATALOGUE_SCHEMA, read_catalogue
from skillpm.formats.index_releases import Release, read_releases
from skillpm.formats.index_sources import IndexPlace
from skillpm.formats.well_known import OLD_PATHS, Site, SiteSkill, read_site
from skillpm.indexes.client.access import Access

FILES = "files"
MOST_TOLD = 10


class Offering(Value):
    """A version of a skill as an index offers it; `url` is whole. `sha256` and `digest` are empty where nobody says.

    `dependencies` is None where only the skill itself knows them. A `url` that ends in a slash is a folder of `files`.
    """

    index: IndexPlace
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


class NoIndex(FetchError):
    """An address at which there is no index, neither ours nor a site's."""


class Index:
    """One index, read as far as it is asked."""

    def __init__(self, place: IndexPlace, access: Access, warn: Callable[[str], None]) -> None:
        self.place = place
        self.access = access
        self.warn = warn
        self._site: tuple[str, Site] | None = None
        self._is_ours: bool | None = None
        self._known: dict[SkillName, list[Offering] | None] = {}
        self._lock = Lock()  # several names are looked up at once, and what an index is shall be asked once

    def offerings(self, name: SkillName) -> list[Offering] | None:
        """Give every version of a skill, the newest first; None where this index does not know it.

        Raises `FetchError` for an index that cannot be read: that is never the same as one that lacks a name.
        """
        if name not in self._known:
            self._known[name] = self._asked(name)
        return self._known[name]

    def _asked(self, name: SkillName) -> list[Offering] | None:
        address = f"{self.place.url}skills/{name}.json"
        text = None if self._site is not None else self.access.document(address)
        if text is not None:
            self._is_ours = True
            return [self._release(release) for release in read_releases(text, address, name).versions]
        with self._lock:
            if self._is_ours is None:
                self._is_ours = self.access.is_there(f"{self.place.url}index.json")
            if self._is_ours:
                return None
            document, site = self.site()
        if name in site.doubled:
            raise ConflictError(f"the index {self.place.name} has several skills called `{name}`", where=document)
        if name in site.broken and not any(skill.name == name for skill in site.skills):
            # Passed over, it would be looked for in the next index, whose skill of that name is another one.
            raise DocumentError(
                f"the index {self.place.name} has `{name}`, and its entry cannot be understood",
                where=site.broken[name],
                hint="tell whoever keeps the index; nothing was changed",
            )
        return next(([self._artifact(document, skill)] for skill in site.skills if skill.name == name), None)

    def listing(self) -> list[tuple[str, str]] | None:
        """Give the name and the description of every skill; None where there is no index of any kind.

        Raises `DocumentError` for an index that cannot be understood.
        """
        address = f"{self.place.url}index.json"
        text = self.access.document(address)
        if text is not None and CATALOGUE_SCHEMA.rpartition(":")[0] in text:
            return [(skill.name, skill.description) for skill in read_catalogue(text, address).skills]
        try:
            return sorted((skill.name, skill.description) for skill in self.site()[1].skills)
        except NoIndex:
            return None

    def site(self) -> tuple[str, Site]:
        """Give the address and the content of a site's index. Raises `FetchError` where there is none."""
        if self._site is None:
            tops = dict.fromkeys([self.place.url, self.access.root()])
            for path in OLD_PATHS:
                for top in tops:
                    text = self.access.document(top + path)
                    if text is not None:
                        self._site = (top + path, read_site(text, top + path))
                        self._tell(self._site[1].problems)
                        return self._site
            raise NoIndex(
                f"there is no index at {show(self.place.url)}: neither index.json nor {OLD_PATHS[0]}",
                where=self.place.written_in,
                hint="check the address; it is the folder that holds index.json",
            )
        return self._site

    def _tell(self, problems: Sequence[str]) -> None:
        for problem in problems[:MOST_TOLD]:
            self.warn(problem)
        if len(problems) > MOST_TOLD:
            self.warn(f"the index {self.place.name} has {len(problems) - MOST_TOLD} more entries that are left out")

    def _release(self, release: Release) -> Offering:
        top = f"{self.place.url}index.json"
        return Offering(
            index=self.place,
            url=self.access.lead(top, release.url),
            version=release.version,
            sha256=release.sha256,
            digest=release.digest,
            dependencies=release.dependencies,
            yanked=release.yanked,
            reason=release.reason,
            published=release.published,
            kind="archive",
        )

    def _artifact(self, document: str, skill: SiteSkill) -> Offering:
        if skill.type == FILES:
            return Offering(
                index=self.place,
                url=self.access.lead(document, skill.name) + "/",
                kind=FILES,
                files=skill.files,
            )
        return Offering(
            index=self.place, url=self.access.lead(document, skill.url), sha256=skill.sha256, kind=skill.type
        )
