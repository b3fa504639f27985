"""Write an index: new releases are merged with the existing ones, and only files that differ are written.

Files are written in this order: archives, the versions of each skill, the catalog, the discovery document, the files
of the HTML catalog. A client that reads in between, or after a crash, finds the archive of every version that a
document lists.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from skillpm.core.file_tree import FileTree
from skillpm.core.limits import Limits
from skillpm.core.names import SkillName
from skillpm.core.tree_checks import check_tree
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, SkillpmError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.files import read_regular_file, translate_os_errors
from skillpm.formats.index_catalog import Catalog, CatalogSkill, write_catalog
from skillpm.formats.index_releases import Release, SkillReleases, is_same_version, write_releases
from skillpm.formats.well_known import WELL_KNOWN_PATH, SiteSkill, write_site
from skillpm.publishing.index.installability import UninstallableRelease, find_uninstallable
from skillpm.publishing.index.output_dir import (
    CATALOG_FILE,
    PAGE_FILE,
    check_output_dir,
    check_skill_pages,
    find_leftovers,
    has_own_page,
    read_existing_catalog,
    read_existing_releases,
    write_files,
)
from skillpm.publishing.index.page_files import (
    ShownSkill,
    find_stale_page_files,
    remove_stale_page_files,
    render_page_files,
)
from skillpm.publishing.index.release_merge import archive_path, build_summary, set_yanked


class UnpublishedSkill(Value):
    """A skill of a source that was not published."""

    name: str
    # Its path, or for a repository its name and tag.
    where: str
    reason: str


class IndexBuildResult(Value):
    """What a build changed. Paths are relative to the index."""

    skill_count: int
    version_count: int
    # New versions, as `NAME VERSION`.
    added: tuple[str, ...] = ()
    # Published versions that got a further signature, as `NAME VERSION`.
    signed: tuple[str, ...] = ()
    # Paths.
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_out: tuple[UnpublishedSkill, ...] = ()
    # The published versions that cannot be installed: of a yank, those that could be before.
    uninstallable: tuple[UninstallableRelease, ...] = ()


class IndexWriter:
    """Changes an index in a local folder.

    `with_page` writes or removes the HTML catalog; None keeps it up to date if there is one. Raises `RefusedError` if
    a page that skillpm did not write would be overwritten, or a folder of the index is a symbolic link.
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
        existing = read_existing_catalog(folder)
        self.is_new = existing is None
        self.catalog = existing or Catalog(name="", skills=())
        self._summaries = {summary.name: summary for summary in self.catalog.skills}
        self.releases = read_existing_releases(folder, existing)
        is_own_page = has_own_page(folder, will_replace=bool(with_page))
        self._with_page = is_own_page if with_page is None else with_page

    @property
    def name(self) -> str:
        """The name of the index; that of its folder for a new one."""
        return self.catalog.name or os.path.basename(os.path.abspath(self.folder))

    def yank(self, name: SkillName, version: str, *, reason: str = "", undo: bool = False) -> IndexBuildResult:
        """Yank a version, or undo it. Raises `NotFoundError`."""
        if name not in self.releases:
            raise NotFoundError(f"`{name}`: no such skill in the index {self.folder}")
        before = find_uninstallable(self.releases)
        self.releases = {**self.releases, name: set_yanked(self.releases[name], version, reason=reason, undo=undo)}
        known = {(release.name, release.version) for release in before}
        new = [it for it in find_uninstallable(self.releases) if (it.name, it.version) not in known]
        return self.write_documents(self.releases).replace(uninstallable=tuple(new))

    def yank_reason(self, name: SkillName, version: str) -> str:
        """Return the reason why a version was yanked; empty if none was given."""
        return next(
            (item.reason for item in self.releases[name].versions if is_same_version(item.version, version)), ""
        )

    def latest_version(self, name: SkillName) -> str:
        """Return the latest version of a skill; empty if all are yanked."""
        latest = self.releases[name].latest
        return "" if latest is None else latest.version

    def find_damaged_archives(self) -> list[str]:
        """Return the archives whose size is not the published one. Only `index check` verifies checksums."""
        damaged = []
        for skill in self.releases.values():
            for release in skill.versions:
                try:
                    size = release.size if "://" in release.url else os.stat(self._path(release.url)).st_size
                except OSError:  # archives may be stored elsewhere
                    continue
                if size != release.size:
                    damaged.append(release.url)
        return damaged

    def prune(self, *, drop_yanked: bool = False, dry_run: bool = False) -> IndexBuildResult:
        """Remove archives that no version refers to, such as those of a killed build, and on request yanked versions.

        Only files named like archives of an index and their signatures are removed: a README is the user's.
        """
        kept = self.releases
        if drop_yanked:
            kept = {
                name: skill.replace(versions=tuple(release for release in skill.versions if not release.yanked))
                for name, skill in self.releases.items()
            }
        empty = [name for name, skill in kept.items() if not skill.versions]
        remaining = {name: kept[name] for name in kept if name not in empty}
        if dry_run:
            stale = find_stale_page_files(self.folder, self._shown_names(remaining))
            built = count_releases(remaining).replace(removed=tuple(stale))
        else:
            built = self.write_documents(remaining)
        # The URL of a release may be that of this very folder on a server, so its archive is kept, too.
        referenced = {
            path
            for skill in kept.values()
            for release in skill.versions
            for path in (
                release.url,
                archive_path(skill.name, release.version),
                *(signature.url for signature in release.signatures),
            )
        }
        removed = [*(f"skills/{name}.json" for name in empty), *find_leftovers(self.folder, referenced)]
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
        """Write the documents of an index whose archives have been written."""
        summaries = [self._summarize(skill) for skill in releases.values() if skill.latest]
        index_name = name or self.name
        if self._with_page:
            check_skill_pages(self.folder, [summary.name for summary in summaries])
        documents = ((f"skills/{skill}.json", write_releases(versions)) for skill, versions in releases.items())
        catalogs = (
            (CATALOG_FILE, write_catalog(Catalog(name=index_name, skills=tuple(summaries)))),
            (WELL_KNOWN_PATH, write_site(_site_skill(summary, releases[summary.name]) for summary in summaries)),
        )
        changed = self.write_files((path, text.encode()) for path, text in documents)
        changed += self.write_files((path, text.encode()) for path, text in catalogs)
        if self._with_page:
            shown = self._list_shown_skills(summaries, releases)
            changed += self.write_files(render_page_files(self.folder, index_name, shown))
        return count_releases(releases).replace(
            added=tuple(sorted(added)),
            written=tuple(sorted([*written, *changed])),
            removed=remove_stale_page_files(self.folder, self._shown_names(releases)),
        )

    def _summarize(self, skill: SkillReleases) -> CatalogSkill:
        """Return the catalog entry of the latest version: the existing one, or read from its archive."""
        latest = skill.latest
        if latest is None:
            raise AssertionError("only skills with a version that is not yanked are in the catalog")
        existing = self._summaries.get(skill.name)
        if existing is not None and existing.latest == latest.version:
            return existing
        try:
            return build_summary(skill.name, latest.version, self.read_archive(skill.name, latest))
        except SkillpmError as error:
            if existing is None:
                raise
            # Yanking a harmful version must not fail because the archive of the previous one is stored elsewhere.
            self.warn(
                f"`{skill.name}` {latest.version}: cannot read its archive, so the catalog keeps the description of "
                f"{existing.latest}: {error.message}"
            )
            return existing.replace(latest=latest.version)

    def read_archive(self, name: SkillName, release: Release) -> FileTree:
        """Return the content of a version. Raises `NotFoundError` if its archive is stored elsewhere."""
        if "://" in release.url:
            raise NotFoundError("it is not stored in this folder", where=release.url)
        with translate_os_errors("read an archive of the index", self._path(release.url)):
            data = read_regular_file(self._path(release.url))
        return check_tree(read_archive(data, release.url, self.limits), name=name, limits=self.limits)

    def _list_shown_skills(
        self, summaries: Sequence[CatalogSkill], releases: Mapping[SkillName, SkillReleases]
    ) -> Iterator[ShownSkill]:
        for summary in summaries:
            skill = releases[summary.name]
            latest = next(release for release in skill.versions if release.version == summary.latest)
            yield ShownSkill(summary=summary, releases=skill, tree=self._read_shown_files(skill.name, latest))

    def _read_shown_files(self, name: SkillName, release: Release) -> FileTree | None:
        if "://" in release.url or not os.path.isfile(self._path(release.url)):
            return None  # its archives are stored elsewhere
        try:
            return self.read_archive(name, release)
        except SkillpmError as error:
            self.warn(f"`{name}` {release.version}: {PAGE_FILE} omits its text: {error.message}")
            return None

    def _shown_names(self, releases: Mapping[SkillName, SkillReleases]) -> list[str] | None:
        return [name for name, skill in releases.items() if skill.latest] if self._with_page else None

    def write_files(self, files: Iterable[tuple[str, bytes]]) -> list[str]:
        """Write the files that differ from existing ones, and return their paths."""
        return write_files(self.folder, files, fsync=self.fsync)

    def _path(self, path: str) -> str:
        return os.path.join(self.folder, path)


def count_releases(releases: Mapping[SkillName, SkillReleases]) -> IndexBuildResult:
    """Return the result of a change of nothing."""
    return IndexBuildResult(
        skill_count=len(releases), version_count=sum(len(skill.versions) for skill in releases.values())
    )


def _site_skill(summary: CatalogSkill, skill: SkillReleases) -> SiteSkill:
    latest = next(release for release in skill.versions if release.version == summary.latest)
    # Relative to `.well-known/agent-skills/`, so that it works at any URL.
    url = latest.url if "://" in latest.url else f"../../{latest.url}"
    return SiteSkill(name=summary.name, description=summary.description, type="archive", url=url, sha256=latest.sha256)
