"""What an index offers, whichever of the three kinds it is: ours, or a site of Agent Skills Discovery, new or old.

Ours is asked first, for the one document that is needed. Only where that is not there, one more question tells an
index that lacks the name from a site; what a site is, is found out once a run.
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any
from urllib.parse import quote

from skillpm.documents.catalogue import CATALOGUE_SCHEMA, read_catalogue
from skillpm.documents.digest import content_hash
from skillpm.documents.discovery_site import OLD_PATHS, Site, SiteSkill, read_site
from skillpm.documents.gate import checked_tree
from skillpm.documents.index_places import IndexPlace, is_local
from skillpm.documents.names import SkillName
from skillpm.documents.releases import Release, read_releases
from skillpm.documents.text import show
from skillpm.documents.tree import Entry, Limits, Tree
from skillpm.errors import ConflictError, DocumentError, FetchError, NotFoundError, RefusedError, SkillpmError
from skillpm.fetching.archives.reading import GZIP, ZIP, read_archive
from skillpm.indexes.access import Access
from skillpm.values import Value

FILES = "files"
MOST_TOLD = 10
Wrong = Callable[[str], SkillpmError]


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

    def fetch(self, offering: Offering, name: str, limits: Limits, wrong: Wrong) -> tuple[str, Tree]:
        """Give the SHA-256 of what an offering is, and its tree. The sum is checked before anything looks inside: other
        bytes are the error that `wrong` makes of what they are.
        """
        if offering.url.endswith("/"):
            tree = self._folder(offering, name, limits)
            return _checked(tree.digest.removeprefix("sha256:"), offering, wrong), tree
        try:
            data = self.access.archive(offering.url, limits.download)
        except NotFoundError as error:
            raise NotFoundError(
                f"the index {self.place.name} names an archive of `{name}` that is not there: {error.message}",
                where=error.where,
                hint="tell whoever keeps the index; nothing was changed",
            ) from None
        return self.opened(offering, data, name, limits, wrong)

    def opened(self, offering: Offering, data: bytes, name: str, limits: Limits, wrong: Wrong) -> tuple[str, Tree]:
        """Look inside the bytes of an artifact, when their sum is right."""
        return _checked(content_hash(data), offering, wrong), _tree(offering, data, name, limits)

    def _folder(self, offering: Offering, name: str, limits: Limits) -> Tree:
        """Take the files of a skill one by one (v0.1.0); what they were is told by the digest of them all."""
        files = offering.files
        if not files:
            listed = self.offerings(SkillName(name))
            files = listed[0].files if listed and listed[0].url == offering.url else ()
        entries, room = [], limits.skill
        if len(files) > limits.files:
            raise RefusedError(f"skill {name}: it has more than {limits.files} files (SKILLPM_MAX_FILES)")
        for path in files:
            address = offering.url + (path if is_local(offering.url) else quote(path))
            data = self.access.archive(address, min(limits.file, room))
            room -= len(data)
            entries.append(Entry(path=path, data=data))
        return checked_tree(entries, name=name, limits=limits)

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


def _checked(found: str, offering: Offering, wrong: Wrong) -> str:
    if offering.sha256 and found != offering.sha256:
        raise wrong(found)
    return found


def _tree(offering: Offering, data: bytes, name: str, limits: Limits) -> Tree:
    """Read an artifact as what the index says that it is; a lock says nothing, and then its bytes do."""
    is_archive = data.startswith((GZIP, *ZIP))
    if offering.kind and is_archive != (offering.kind == "archive"):
        what = "an archive" if is_archive else "no archive"
        said = "an archive" if offering.kind == "archive" else "a SKILL.md"
        raise RefusedError(f"`{name}`: {show(offering.url)} is {what}, and the index says {said}")
    if not is_archive:
        return checked_tree([Entry(path="SKILL.md", data=data)], name=name, limits=limits)
    return checked_tree(read_archive(data, offering.url, limits), name=name, limits=limits)
