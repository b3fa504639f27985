"""Write an index: what is there is read, joined with what is new, and only what differs is written.

In this order: archives, each skill's versions, the catalogue, the index for other clients, the page for people.
Whoever reads while this goes on, or after it was killed, sees versions whose archives are there.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from skillpm.core.file_tree import FileTree, Limits
from skillpm.core.names import SkillName
from skillpm.core.tree_checks import check_tree
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, SkillpmError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.files import read_regular_file, translate_os_errors
from skillpm.formats.index_catalog import Catalog, SkillSummary, write_catalog
from skillpm.formats.index_releases import Release, SkillReleases, is_same_version, write_releases
from skillpm.formats.well_known import WELL_KNOWN_PATH, SiteSkill, write_site
from skillpm.indexes.publish.output_dir import (
    CATALOG_FILE,
    PAGE_FILE,
    check_output_dir,
    find_leftovers,
    read_existing_catalog,
    read_existing_page,
    read_existing_releases,
    write_files,
)
from skillpm.indexes.publish.release_merge import archive_path, build_summary, set_yanked
from skillpm.skillmd.skill import Skill, read_skill


class UnpublishedSkill(Value):
    """Something that a source has and that was not published: a skill's name, where it stands, and why."""

    name: str
    where: str
    reason: str


class IndexBuildResult(Value):
    """What a build did: the versions that are new, the files that were written, what was not published."""

    skill_count: int
    version_count: int
    added: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_out: tuple[UnpublishedSkill, ...] = ()


class IndexWriter:
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
        with_page: bool | None = None,
    ) -> None:
        self.folder = folder
        self.limits = limits
        self.warn = warn
        self.fsync = fsync
        check_output_dir(folder)
        standing = read_existing_catalog(folder)
        self.is_new = standing is None
        self.catalog = standing or Catalog(name="", skills=())
        self._summaries = {summary.name: summary for summary in self.catalog.skills}
        self.releases = read_existing_releases(folder, standing)
        self._old_page = read_existing_page(folder, will_replace=bool(with_page))
        self._has_page = self._old_page is not None if with_page is None else with_page

    @property
    def name(self) -> str:
        """What the index calls itself; a new one as its folder is called."""
        return self.catalog.name or os.path.basename(os.path.abspath(self.folder))

    def yank(self, name: SkillName, version: str, *, reason: str = "", undo: bool = False) -> IndexBuildResult:
        """Take a version out of what is offered, or put it back."""
        if name not in self.releases:
            raise NotFoundError(f"the index in {self.folder} has no skill `{name}`")
        changed = set_yanked(self.releases[name], version, reason=reason, undo=undo)
        self.releases = {**self.releases, name: changed}
        return self.write_documents(self.releases)

    def yank_reason(self, name: SkillName, version: str) -> str:
        """Give why a version was yanked; empty where nobody said."""
        return next(
            (item.reason for item in self.releases[name].versions if is_same_version(item.version, version)), ""
        )

    def latest_version(self, name: SkillName) -> str:
        """Give the version of a skill that is offered first; empty where all are yanked."""
        latest = self.releases[name].latest
        return "" if latest is None else latest.version

    def find_damaged_archives(self) -> list[str]:
        """Give the archives here that have not the size which was published. Their sums are `index check`'s work."""
        found = []
        for skill in self.releases.values():
            for release in skill.versions:
                try:
                    size = release.size if "://" in release.url else os.stat(self._path(release.url)).st_size
                except OSError:  # archives may lie elsewhere
                    continue
                if size != release.size:
                    found.append(release.url)
        return found

    def prune(self, *, drop_yanked: bool = False, dry_run: bool = False) -> IndexBuildResult:
        """Remove archives that no version names, as a build that was killed leaves them; yanked versions if asked.

        Only what has the name of an archive of ours goes: a signature or a README beside them is somebody's own.
        `dry_run`: only tell what would go.
        """
        kept = self.releases
        if drop_yanked:
            kept = {
                name: skill.replace(versions=tuple(release for release in skill.versions if not release.yanked))
                for name, skill in self.releases.items()
            }
        gone = [name for name, skill in kept.items() if not skill.versions]
        remaining = {name: kept[name] for name in kept if name not in gone}
        built = _count(remaining) if dry_run else self.write_documents(remaining)
        # A version whose `url` is a web address may well lie here, behind that very address.
        named = {
            path
            for skill in kept.values()
            for release in skill.versions
            for path in (release.url, archive_path(skill.name, release.version))
        }
        removed = [*(f"skills/{name}.json" for name in gone), *find_leftovers(self.folder, named)]
        for path in removed:
            if not dry_run:
                with translate_os_errors("remove a file of an index", self._path(path)):
                    os.unlink(self._path(path))
        return built.replace(removed=tuple(sorted([*built.removed, *removed])))

    def write_documents(
        self,
        releases: Mapping[SkillName, SkillReleases],
        name: str = "",
        written: Sequence[str] = (),
        added: Iterable[str] = (),
    ) -> IndexBuildResult:
        """Write the documents of an index whose archives are there."""
        summaries = [self._summarize(skill) for skill in releases.values() if skill.latest]
        called = name or self.name
        documents = ((f"skills/{skill}.json", write_releases(found)) for skill, found in releases.items())
        rest = (
            (CATALOG_FILE, write_catalog(Catalog(name=called, skills=tuple(summaries)))),
            (WELL_KNOWN_PATH, write_site(_site_skill(summary, releases[summary.name]) for summary in summaries)),
        )
        changed = self.write_files((path, text.encode()) for path, text in documents)
        changed += self.write_files((path, text.encode()) for path, text in rest)
        if self._has_page:
            changed += self.write_files([(PAGE_FILE, self._render_page(called, summaries, releases))])
        return _count(releases).replace(
            added=tuple(sorted(added)),
            written=tuple(sorted([*written, *changed])),
            removed=self._remove_page(),
        )

    def _summarize(self, skill: SkillReleases) -> SkillSummary:
        """Give what the catalogue says of the newest version: known already, or read from its archive."""
        latest = skill.latest
        if latest is None:
            raise AssertionError("only skills with something to offer are in the catalogue")
        known = self._summaries.get(skill.name)
        if known is not None and known.latest == latest.version:
            return known
        try:
            return build_summary(skill.name, latest.version, self._read_archive(skill.name, latest))
        except SkillpmError as error:
            if known is None:
                raise
            # A version that does harm must be yanked today, wherever the archive of the one before lies.
            self.warn(
                f"the archive of `{skill.name}` {latest.version} cannot be read here, so the catalogue says of the "
                f"skill what it said of {known.latest}: {error.message}"
            )
            return known.replace(latest=latest.version)

    def _read_archive(self, name: SkillName, release: Release) -> FileTree:
        if "://" in release.url:
            raise NotFoundError("it lies on the web", where=release.url)
        with translate_os_errors("read an archive of the index", self._path(release.url)):
            data = read_regular_file(self._path(release.url))
        return check_tree(read_archive(data, release.url, self.limits), name=name, limits=self.limits)

    def _render_page(
        self, name: str, summaries: Sequence[SkillSummary], releases: Mapping[SkillName, SkillReleases]
    ) -> bytes:
        from skillpm.indexes.page.page_builder import build_page  # noqa: PLC0415  (jinja2 and more, only for a page)

        def read(skill: SkillName, release: Release) -> Skill:
            if "://" in release.url or not os.path.isfile(self._path(release.url)):
                return Skill(declared=skill, description="", body="")  # its archives lie elsewhere
            try:
                tree = self._read_archive(skill, release)
            except SkillpmError as error:
                self.warn(f"{PAGE_FILE} does not show the text of `{skill}` {release.version}: {error.message}")
                return Skill(declared=skill, description="", body="")
            return read_skill(tree.read(tree.skill_file) or b"")

        rows = [(summary, releases[summary.name]) for summary in summaries]
        return build_page(name, rows, self._old_page or b"", read)

    def _remove_page(self) -> tuple[str, ...]:
        if self._has_page or self._old_page is None:
            return ()
        with translate_os_errors("remove a page", self._path(PAGE_FILE)):
            os.unlink(self._path(PAGE_FILE))
        return (PAGE_FILE,)

    def write_files(self, files: Iterable[tuple[str, bytes]]) -> list[str]:
        """Write files where they differ, and give which."""
        return write_files(self.folder, files, fsync=self.fsync)

    def _path(self, path: str) -> str:
        return os.path.join(self.folder, path)


def _count(releases: Mapping[SkillName, SkillReleases]) -> IndexBuildResult:
    return IndexBuildResult(
        skill_count=len(releases), version_count=sum(len(skill.versions) for skill in releases.values())
    )


def _site_skill(summary: SkillSummary, skill: SkillReleases) -> SiteSkill:
    latest = next(release for release in skill.versions if release.version == summary.latest)
    # From `.well-known/agent-skills/` back to the top, wherever on its host the index lies.
    url = latest.url if "://" in latest.url else f"../../{latest.url}"
    return SiteSkill(name=summary.name, description=summary.description, type="archive", url=url, sha256=latest.sha256)
