"""Write an index: what is there is read, joined with what is new, and only what differs is written.

In this order: archives, each skill's versions, the catalogue, the index for other clients, the page for people.
Whoever reads while this goes on, or after it was killed, sees versions whose archives are there.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from skillpm.core.file_tree import Limits, Tree
from skillpm.core.names import SkillName
from skillpm.core.tree_checks import checked_tree
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, SkillpmError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.files import read_document, told
from skillpm.formats.index_catalog import Catalogue, Summary, write_catalogue
from skillpm.formats.index_releases import Release, Releases, same_version, write_releases
from skillpm.formats.well_known import PATH, SiteSkill, write_site
from skillpm.indexes.publish.output_dir import (
    CATALOGUE,
    PAGE,
    check_ground,
    put,
    standing_catalogue,
    standing_page,
    standing_releases,
    unneeded,
)
from skillpm.indexes.publish.release_merge import archive_path, summary_of, yanked
from skillpm.skillmd.skill import Skill, read_skill


class LeftOut(Value):
    """Something that a source has and that was not published: a skill's name, where it stands, and why."""

    name: str
    where: str
    why: str


class Built(Value):
    """What a build did: the versions that are new, the files that were written, what was not published."""

    skills: int
    versions: int
    added: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
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
        standing = standing_catalogue(folder)
        self.is_new = standing is None
        self.catalogue = standing or Catalogue(name="", skills=())
        self._known = {summary.name: summary for summary in self.catalogue.skills}
        self.releases = standing_releases(folder, standing)
        self._old_page = standing_page(folder, replaced=bool(page))
        self._has_page = self._old_page is not None if page is None else page

    @property
    def name(self) -> str:
        """What the index calls itself; a new one as its folder is called."""
        return self.catalogue.name or os.path.basename(os.path.abspath(self.folder))

    def yank(self, name: SkillName, version: str, *, reason: str = "", back: bool = False) -> Built:
        """Take a version out of what is offered, or put it back."""
        if name not in self.releases:
            raise NotFoundError(f"the index in {self.folder} has no skill `{name}`")
        changed = yanked(self.releases[name], version, reason=reason, back=back)
        self.releases = {**self.releases, name: changed}
        return self.finish(self.releases)

    def reason(self, name: SkillName, version: str) -> str:
        """Give why a version was yanked; empty where nobody said."""
        return next((item.reason for item in self.releases[name].versions if same_version(item.version, version)), "")

    def offered(self, name: SkillName) -> str:
        """Give the version of a skill that is offered first; empty where all are yanked."""
        latest = self.releases[name].latest
        return "" if latest is None else latest.version

    def damaged(self) -> list[str]:
        """Give the archives here that have not the size which was published. Their sums are `index check`'s work."""
        found = []
        for skill in self.releases.values():
            for release in skill.versions:
                try:
                    size = release.size if "://" in release.url else os.stat(self._at(release.url)).st_size
                except OSError:  # archives may lie elsewhere
                    continue
                if size != release.size:
                    found.append(release.url)
        return found

    def prune(self, *, drop_yanked: bool = False, dry_run: bool = False) -> Built:
        """Remove archives that no version names, as a build that was killed leaves them; yanked versions if asked.

        Only what has the name of an archive of ours goes: a signature or a README beside them is somebody's own.
        `dry_run`: only tell what would go.
        """
        kept = self.releases
        if drop_yanked:
            kept = {
                name: skill.but(versions=tuple(release for release in skill.versions if not release.yanked))
                for name, skill in self.releases.items()
            }
        gone = [name for name, skill in kept.items() if not skill.versions]
        remaining = {name: kept[name] for name in kept if name not in gone}
        built = _counts(remaining) if dry_run else self.finish(remaining)
        # A version whose `url` is a web address may well lie here, behind that very address.
        named = {
            path
            for skill in kept.values()
            for release in skill.versions
            for path in (release.url, archive_path(skill.name, release.version))
        }
        removed = [*(f"skills/{name}.json" for name in gone), *unneeded(self.folder, named)]
        for path in removed:
            if not dry_run:
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
        changed = self.put((path, text.encode()) for path, text in documents)
        changed += self.put((path, text.encode()) for path, text in rest)
        if self._has_page:
            changed += self.put([(PAGE, self._new_page(called, summaries, releases))])
        return _counts(releases).but(
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

    def _new_page(self, name: str, summaries: Sequence[Summary], releases: Mapping[SkillName, Releases]) -> bytes:
        from skillpm.indexes.page.page_builder import make_page  # noqa: PLC0415  (jinja2 and more, only for a page)

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

    def put(self, files: Iterable[tuple[str, bytes]]) -> list[str]:
        """Write files where they differ, and give which."""
        return put(self.folder, files, fsync=self.fsync)

    def _at(self, path: str) -> str:
        return os.path.join(self.folder, path)


def _counts(releases: Mapping[SkillName, Releases]) -> Built:
    return Built(skills=len(releases), versions=sum(len(skill.versions) for skill in releases.values()))


def _site_skill(summary: Summary, skill: Releases) -> SiteSkill:
    latest = next(release for release in skill.versions if release.version == summary.latest)
    # From `.well-known/agent-skills/` back to the top, wherever on its host the index lies.
    url = latest.url if "://" in latest.url else f"../../{latest.url}"
    return SiteSkill(name=summary.name, description=summary.description, type="archive", url=url, sha256=latest.sha256)
