"""Write an index: what is there is read, joined with what is new, and only what differs is written.

In this order: archives, each skill's versions, the catalogue, the index for other clients, the page for people.
Whoever reads while this goes on, or after it was killed, sees versions whose archives are there.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from skillpm.documents.discovery_site import PATH, SiteSkill, write_site
from skillpm.documents.index import (
    Catalogue,
    Release,
    Releases,
    Summary,
    read_catalogue,
    read_releases,
    write_catalogue,
    write_releases,
)
from skillpm.documents.names import SkillName, is_skill_name
from skillpm.documents.skill import Skill, read_skill
from skillpm.documents.tree import Limits, Tree, checked_tree
from skillpm.errors import DocumentError, NotFoundError, RefusedError, SkillpmError
from skillpm.fetching.archives.reading import read_archive
from skillpm.files import discard_file, read_document, read_text, sync_file, sync_folder, told, write_new
from skillpm.indexes.ground import CATALOGUE, PAGE, check_ground, unneeded
from skillpm.indexes.page.head import head_of
from skillpm.indexes.publishing import Edition, archive_path, summary_of, yanked
from skillpm.values import Value


class LeftOut(Value):
    """Something that a source has and that was not published: a skill's name, where it stands, and why."""

    name: str
    where: str
    why: str


class Built(Value):
    """What a build did: the versions that are new, the files that were written, what was not published."""

    skills: int
    versions: int
    added: tuple[str, ...]
    written: tuple[str, ...]
    removed: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class Shelf:
    """An index that lies in a folder of this machine, to be written.

    `page`: with a page for people, without one, or None where there is one of ours already. Raises `RefusedError`
    where a page of somebody else would be replaced, or a folder of the index leads elsewhere.
    """

    def __init__(
        self,
        folder: str,
        *,
        limits: Limits,
        warn: Callable[[str], None],
        fsync: bool = True,
        page: bool | None = None,
    ) -> None:
        self.folder = folder
        self.limits = limits
        self.warn = warn
        self.fsync = fsync
        check_ground(folder)
        text = read_text(self._at(CATALOGUE))
        self.is_new = text is None
        self.catalogue = Catalogue(name="", skills=()) if text is None else read_catalogue(text, self._at(CATALOGUE))
        self._known = {summary.name: summary for summary in self.catalogue.skills}
        self.releases = self._releases()
        self._old_page = self._page(replaced=bool(page))
        self._has_page = self._old_page is not None if page is None else page

    @property
    def name(self) -> str:
        """What the index calls itself; a new one as its folder is called."""
        return self.catalogue.name or os.path.basename(os.path.abspath(self.folder))

    @contextmanager
    def adding(self) -> Iterator["Adding"]:
        """Give what takes new versions, one by one; nothing is written before all are there."""
        with told("write an index", self.folder):
            waiting = TemporaryFile(dir=_nearest(self.folder))  # noqa: SIM115  (two lines on it is a context)
        with waiting:
            yield Adding(self, waiting)

    def yank(self, name: SkillName, version: str, *, reason: str = "", back: bool = False) -> Built:
        """Take a version out of what is offered, or put it back."""
        if name not in self.releases:
            raise NotFoundError(f"the index in {self.folder} has no skill `{name}`")
        changed = yanked(self.releases[name], version, reason=reason, back=back)
        return self.finish({**self.releases, name: changed})

    def prune(self, *, drop_yanked: bool = False) -> Built:
        """Remove archives that no version names, as a build that was killed leaves them; yanked versions if asked.

        Only what has the name of an archive of ours goes: a signature or a README beside them is somebody's own.
        """
        kept = self.releases
        if drop_yanked:
            kept = {
                name: skill.but(versions=tuple(release for release in skill.versions if not release.yanked))
                for name, skill in self.releases.items()
            }
        gone = [name for name, skill in kept.items() if not skill.versions]
        built = self.finish({name: kept[name] for name in kept if name not in gone})
        # A version whose `url` is a web address may well lie here, behind that very address.
        named = {
            path
            for skill in kept.values()
            for release in skill.versions
            for path in (release.url, archive_path(skill.name, release.version))
        }
        removed = [*(f"skills/{name}.json" for name in gone), *unneeded(self.folder, named)]
        for path in removed:
            with told("remove a file of an index", self._at(path)):
                os.unlink(self._at(path))
        return built.but(removed=tuple(sorted([*built.removed, *removed])))

    def finish(
        self,
        releases: Mapping[SkillName, Releases],
        name: str = "",
        written: Sequence[str] = (),
        added: Iterable[str] = (),
    ) -> Built:
        """Write the documents of an index whose archives are there."""
        summaries = [self._summary(skill) for skill in releases.values() if skill.latest]
        called = name or self.name
        documents = ((f"skills/{skill}.json", write_releases(found)) for skill, found in releases.items())
        rest = (
            (CATALOGUE, write_catalogue(Catalogue(name=called, skills=tuple(summaries)))),
            (PATH, write_site(_site_skill(summary, releases[summary.name]) for summary in summaries)),
        )
        changed = self.write((path, text.encode()) for path, text in documents)
        changed += self.write((path, text.encode()) for path, text in rest)
        if self._has_page:
            changed += self.write([(PAGE, self._new_page(called, summaries, releases))])
        return Built(
            skills=len(releases),
            versions=sum(len(skill.versions) for skill in releases.values()),
            added=tuple(sorted(added)),
            written=tuple(sorted([*written, *changed])),
            removed=self._without_page(),
        )

    def _summary(self, skill: Releases) -> Summary:
        """Give what the catalogue says of the newest version: known already, or read from its archive."""
        latest = skill.latest
        if latest is None:
            raise AssertionError("only skills with something to offer are in the catalogue")
        known = self._known.get(skill.name)
        if known is not None and known.latest == latest.version:
            return known
        try:
            return summary_of(skill.name, latest.version, self._opened(skill.name, latest))
        except SkillpmError as error:
            if known is None:
                raise
            # A version that does harm must be yanked today, wherever the archive of the one before lies.
            self.warn(
                f"the archive of `{skill.name}` {latest.version} cannot be read here, so the catalogue says of the "
                f"skill what it said of {known.latest}: {error.message}"
            )
            return known.but(latest=latest.version)

    def _opened(self, name: SkillName, release: Release) -> Tree:
        if "://" in release.url:
            raise NotFoundError("it lies on the web", where=release.url)
        with told("read an archive of the index", self._at(release.url)):
            data = read_document(self._at(release.url))
        return checked_tree(read_archive(data, release.url, self.limits), name=name, limits=self.limits)

    def _page(self, *, replaced: bool) -> bytes | None:
        if not os.path.lexists(self._at(PAGE)):
            return None
        with told("read a page", self._at(PAGE)):
            page = read_document(self._at(PAGE))
        if head_of(page) is not None:
            return page
        if replaced:
            raise RefusedError(
                "this page is not skillpm's, and would be replaced",
                where=self._at(PAGE),
                hint="move it away, or leave it there with --no-catalog; nothing was written",
            )
        return None

    def _new_page(self, name: str, summaries: Sequence[Summary], releases: Mapping[SkillName, Releases]) -> bytes:
        from skillpm.indexes.page.making import make_page  # noqa: PLC0415  (jinja2 and more, only for a page)

        def read(skill: SkillName, release: Release) -> Skill:
            if "://" in release.url or not os.path.isfile(self._at(release.url)):
                return Skill(declared=skill, description="", body="")  # its archives lie elsewhere
            try:
                tree = self._opened(skill, release)
            except SkillpmError as error:
                self.warn(f"{PAGE} does not show the text of `{skill}` {release.version}: {error.message}")
                return Skill(declared=skill, description="", body="")
            return read_skill(tree.read(tree.skill_file) or b"")

        rows = [(summary, releases[summary.name]) for summary in summaries]
        return make_page(name, rows, self._old_page or b"", read)

    def _without_page(self) -> tuple[str, ...]:
        if self._has_page or self._old_page is None:
            return ()
        with told("remove a page", self._at(PAGE)):
            os.unlink(self._at(PAGE))
        return (PAGE,)

    def _releases(self) -> dict[SkillName, Releases]:
        found = {}
        for path in self._files("skills"):
            name = os.path.basename(path).removesuffix(".json")
            if path.endswith(".json") and is_skill_name(name):
                text = read_text(self._at(path))
                if text is not None:
                    releases = read_releases(text, self._at(path), name)
                    found[releases.name] = releases
        if found and self.is_new:
            raise DocumentError(
                "there are versions of skills here, and no index.json", where=self.folder, hint="is this an index?"
            )
        for name in self._known:
            if name not in found:
                raise DocumentError(
                    f"index.json lists `{name}`, and its versions are not there",
                    where=self._at(f"skills/{name}.json"),
                    hint="take that file from version control or from where the index is served; nothing was written",
                )
        return found

    def _files(self, folder: str) -> list[str]:
        try:
            return sorted(f"{folder}/{name}" for name in os.listdir(self._at(folder)))
        except FileNotFoundError:
            return []

    def _at(self, path: str) -> str:
        return os.path.join(self.folder, path)

    def write(self, files: Iterable[tuple[str, bytes]]) -> list[str]:
        """Write files where they differ, and give which; all are on the disk before the first takes its place."""
        ready: dict[str, str] = {}
        with told("write an index", self.folder):
            try:
                for path, data in files:
                    whole = self._at(path)
                    if not (os.path.isfile(whole) and read_document(whole) == data):
                        _make_folder(os.path.dirname(whole))
                        ready[path] = f"{whole}.{os.getpid()}.tmp"
                        discard_file(ready[path])
                        write_new(ready[path], data, 0o644)
                if self.fsync:
                    # One after the other when all are written: the first takes the others along, or nearly so.
                    for temporary in ready.values():
                        sync_file(temporary)
                for path, temporary in ready.items():
                    os.replace(temporary, self._at(path))
            except BaseException:
                for temporary in ready.values():
                    discard_file(temporary)
                raise
            if self.fsync:
                for folder in sorted({os.path.dirname(self._at(path)) for path in ready}):
                    sync_folder(folder)
        return [*ready]


class Adding:
    """New versions on their way into an index. Their archives wait in a file without a name, which a killed build
    leaves nothing of; of one content there is one copy.
    """

    def __init__(self, shelf: Shelf, waiting: IO[bytes]) -> None:
        self.edition = Edition(shelf.releases, self._keep)
        self._shelf = shelf
        self._waiting = waiting
        self._archives: dict[str, tuple[int, int]] = {}
        self._last: tuple[bytes, int] = (b"", 0)

    def publish(self, name: str = "") -> Built:
        """Write all of it. Raises `RefusedError` for a version that is published already with other content."""
        releases = self.edition.releases()
        written = self._shelf.write(self._archive(path) for path in self._archives)
        return self._shelf.finish(releases, name, written, self.edition.added)

    def _archive(self, path: str) -> tuple[str, bytes]:
        start, size = self._archives[path]
        self._waiting.seek(start)
        return path, self._waiting.read(size)

    def _keep(self, path: str, data: bytes) -> None:
        if self._last[0] is not data:
            with told("write an archive", self._shelf.folder):
                self._last = data, self._waiting.seek(0, os.SEEK_END)
                self._waiting.write(data)
        self._archives[path] = self._last[1], len(data)


def _make_folder(folder: str) -> None:
    """Make a folder that a web server can look into, whatever the umask is; the files are as open."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        os.mkdir(each)
        os.chmod(each, 0o755)  # noqa: S103  (what is published is for everybody)


def _nearest(folder: str) -> str:
    """Give the folder, or the nearest one above it that is there."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _site_skill(summary: Summary, skill: Releases) -> SiteSkill:
    latest = next(release for release in skill.versions if release.version == summary.latest)
    # From `.well-known/agent-skills/` back to the top, wherever on its host the index lies.
    url = latest.url if "://" in latest.url else f"../../{latest.url}"
    return SiteSkill(name=summary.name, description=summary.description, type="archive", url=url, sha256=latest.sha256)
