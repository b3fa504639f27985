"""Check an index as clients see it: every document, every archive and every checksum."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import FileTree
from skillpm.core.limits import Limits
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.common.metadata import read_dependencies
from skillpm.formats.index_catalog import CatalogSkill, read_catalog
from skillpm.formats.index_releases import PublishedSignature, Release, SkillReleases, read_releases
from skillpm.formats.well_known import WELL_KNOWN_PATH
from skillpm.indexes.client.artifacts import fetch_artifact, read_artifact
from skillpm.indexes.client.index import Index, IndexRelease
from skillpm.indexes.page.header import PageHeader, read_header
from skillpm.publishing.index.installability import (
    external_dependency_message,
    find_external_dependencies,
    find_uninstallable,
)
from skillpm.publishing.index.output_dir import PAGE_FILE, START_FILE, skill_page_path
from skillpm.publishing.index.release_merge import build_summary, find_errors, version_mismatch_message
from skillpm.requirements.declared_dependencies import dependency_mismatch
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill
from skillpm.trust.statement import check_files, read_signature


class IndexProblem(Value):
    """A problem that `index check` found."""

    # An address, or `NAME VERSION`.
    where: str
    message: str


class _CheckState:
    """What was read so far."""

    def __init__(self, page: "_PageCheck | None") -> None:
        self.page = page
        # Of the skills with a version that is not yanked.
        self.releases: dict[SkillName, SkillReleases] = {}
        # Of all skills.
        self.all_releases: dict[SkillName, SkillReleases] = {}
        # The SKILL.md of the latest version.
        self.skills: dict[SkillName, Skill] = {}

    def check_page(self, summary: CatalogSkill, releases: SkillReleases, tree: FileTree) -> None:
        """Check how the HTML catalog shows the latest version of a skill."""
        latest = releases.latest
        if self.page is not None and latest is not None and latest.version == summary.latest:
            # `index build` renders only what is in the folder.
            self.page.check_skill(summary, releases, None if "://" in latest.url else tree)


def verify_index(index: Index, limits: Limits, warn: Callable[[str], None]) -> Iterator[IndexProblem]:
    """Yield all problems of an index. Nothing is stored.

    `warn` is called with what is not an error, but warns every user who installs a skill.
    """
    top = f"{index.config.url}index.json"
    try:
        text = index.access.read_document(top)
        if text is None:
            yield from _check_site(index, limits, None)
            return
        catalog = read_catalog(text, top)
    except SkillpmError as error:
        yield _to_problem(error, top)
        return
    try:
        page = _PageCheck.open(index, limits, catalog.name)
    except SkillpmError as error:
        page = None
        yield _to_problem(error, f"{index.config.url}{PAGE_FILE}")
    state = _CheckState(page)
    for summary in catalog.skills:
        yield from _check_skill(index, summary, state, limits)
    for name, releases in state.releases.items():
        if releases.latest and name in state.skills:
            message = version_mismatch_message("the index", releases.latest.version, state.skills[name])
            if message:
                warn(f"{name}: {message}")
    yield from _check_installability(index, state, warn)
    latest = {name: releases.latest.sha256 for name, releases in state.releases.items() if releases.latest}
    yield from _check_site(index, limits, latest)
    # Where a latest version could not be read, there is a problem already.
    if page is not None and all(summary.name in state.skills for summary in catalog.skills):
        yield from page.check_pages()


def _check_skill(index: Index, summary: CatalogSkill, state: _CheckState, limits: Limits) -> Iterator[IndexProblem]:
    where = f"{index.config.url}skills/{summary.name}.json"
    try:
        text = index.access.read_document(where)
        if text is None:
            yield IndexProblem(where=where, message="the catalog lists this skill, but the file is missing")
            return
        releases = read_releases(text, where, summary.name)
    except SkillpmError as error:
        yield _to_problem(error, where)
        return
    state.all_releases[releases.name] = releases
    if releases.latest is not None:
        state.releases[summary.name] = releases
    for release in releases.versions:
        yield from _check_release(index, summary, releases, release, limits, state)


def _check_release(
    index: Index, summary: CatalogSkill, releases: SkillReleases, release: Release, limits: Limits, state: _CheckState
) -> Iterator[IndexProblem]:
    where = f"{releases.name} {release.version}"
    try:
        url = index.access.resolve_url(f"{index.config.url}index.json", release.url)
        index_release = IndexRelease(index=index.config, reference=url, sha256=release.sha256, kind="archive")
        data = index.access.read_archive(url, limits.download)
        tree = read_artifact(
            index_release, data, releases.name, limits, lambda actual: _checksum_error(url, release.sha256, actual)
        )[1]
    except SkillpmError as error:
        yield _to_problem(error, where)
        return
    if len(data) != release.size:
        yield IndexProblem(where=where, message=f"the archive is {len(data)} bytes, the index says {release.size}")
    yield from (problem for each in release.signatures for problem in _check_signature(index, where, each, tree))
    if tree.digest != release.digest:
        yield IndexProblem(where=where, message=f"the content digest is {tree.digest}, the index says {release.digest}")
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
    except NotLoadable as error:
        yield IndexProblem(where=where, message=f"cannot be loaded: {error.finding.message}")
        return
    if release == releases.latest:
        state.skills[releases.name] = skill
        state.check_page(summary, releases, tree)
    yield from _check_dependencies(releases.name, release, tree, skill)
    for error_message in find_errors(tree, releases.name):
        yield IndexProblem(where=where, message=f"invalid skill: {error_message}")
    if releases.latest is None or releases.latest.version != summary.latest:
        if release == releases.versions[0]:
            yield IndexProblem(where=where, message=f"the catalog says that the latest version is {summary.latest}")
    elif release == releases.latest and build_summary(releases.name, release.version, tree) != summary:
        yield IndexProblem(where=where, message="its catalog entry does not match its SKILL.md")


def _check_signature(index: Index, where: str, signature: PublishedSignature, tree: FileTree) -> Iterator[IndexProblem]:
    """Check a signature beside a version: its checksum, and that it is over the files of the version."""
    try:
        text = index.access.read_document(index.access.resolve_url(f"{index.config.url}index.json", signature.url))
        data = (text or "").encode()
        if text is None:
            yield IndexProblem(where=where, message=f"the signature {signature.url} is missing")
        elif content_hash(data) != signature.sha256 or len(data) != signature.size:
            yield IndexProblem(where=where, message=f"the signature {signature.url} is not what the index says")
        else:
            check_files(tree, read_signature(data, signature.url)[1])
    except SkillpmError as error:
        yield _to_problem(error, where)


def _check_dependencies(name: SkillName, release: Release, tree: FileTree, skill: Skill) -> Iterator[IndexProblem]:
    """Compare the dependencies of a version in the index with those in the skill."""
    where = f"{name} {release.version}"
    try:
        own = read_dependencies(tree, skill, name)
    except RefusedError as error:
        yield IndexProblem(where=where, message=f"cannot read the dependencies of the skill: {error}")
        return
    if mismatch := dependency_mismatch(release.dependencies, own):
        message = f"dependencies in the index differ from those in the skill: {mismatch}"
        yield IndexProblem(where=where, message=message)


def _check_installability(index: Index, state: _CheckState, warn: Callable[[str], None]) -> Iterator[IndexProblem]:
    """Find versions whose dependencies no versions of the index satisfy; `warn` of dependencies on other skills."""
    for name in find_external_dependencies(state.all_releases):
        # The catalog omits skills of which all versions are yanked.
        where = f"{index.config.url}skills/{name}.json"
        try:
            if (text := index.access.read_document(where)) is not None:
                state.all_releases[name] = read_releases(text, where, name)
        except SkillpmError as error:
            yield _to_problem(error, where)
    for name, requirers in find_external_dependencies(state.all_releases).items():
        warn(external_dependency_message(name, requirers, state.all_releases))
    for release in find_uninstallable(state.all_releases):
        yield IndexProblem(where=f"{release.name} {release.version}", message=f"cannot be installed: {release.reason}")


def _check_site(index: Index, limits: Limits, latest: dict[SkillName, str] | None) -> Iterator[IndexProblem]:
    """Check the discovery document. In a skillpm index, it must list the latest archives: name to SHA-256."""
    is_skillpm_index, latest = latest is not None, latest or {}
    try:
        document, site = index.load_site()
    except SkillpmError as error:
        yield _to_problem(error, index.config.url + WELL_KNOWN_PATH)
        return
    for problem in site.problems:
        yield IndexProblem(where=document, message=problem)
    for name in sorted({*latest} - {skill.name for skill in site.skills}):
        yield IndexProblem(where=document, message=f"`{name}` is missing")
    for skill in site.skills:
        if latest.get(skill.name) == skill.sha256:
            continue  # the archive has been checked already
        if is_skillpm_index:
            is_known = skill.name in latest
            problem = "is not the latest version in the index" if is_known else "is listed, but is not in the catalog"
            yield IndexProblem(where=document, message=f"`{skill.name}` {problem}")
            continue
        try:
            url = document.rpartition("/")[0] + f"/{skill.name}/" if skill.files else ""
            index_release = IndexRelease(
                index=index.config,
                reference=url or index.access.resolve_url(document, skill.url),
                sha256=skill.sha256,
                kind=skill.type,
                files=skill.files,
            )
            make_error = partial(_checksum_error, skill.url, skill.sha256)
            tree = fetch_artifact(index, index_release, skill.name, limits, make_error)[1]
            declared = read_skill(tree.read(tree.skill_file) or b"").declared
            if declared != skill.name:
                yield IndexProblem(where=document, message=f"`{skill.name}` has the name `{declared}` in its SKILL.md")
        except NotLoadable as error:
            yield IndexProblem(where=document, message=f"`{skill.name}` cannot be loaded: {error.finding.message}")
        except SkillpmError as error:
            yield _to_problem(error, document)


class _PageCheck:
    """Compares the HTML catalog with what `index build` would write."""

    def __init__(self, index: Index, limits: Limits, name: str, pages: Mapping[str, tuple[bytes, PageHeader]]) -> None:
        from skillpm.indexes.page import page_builder  # noqa: PLC0415  (imports jinja2)

        self._index, self._limits, self._pages = index, limits, pages
        self._builder = page_builder.PageBuilder(name)
        self._is_comparable = page_builder.is_same_generator(next(iter(pages.values()))[1])
        self._changed_message = page_builder.CHANGED
        self._skill_problems: list[IndexProblem] = []

    @classmethod
    def open(cls, index: Index, limits: Limits, name: str) -> "_PageCheck | None":
        """Fetch the pages that skillpm wrote; None if there are none."""
        pages = {}
        for file in (PAGE_FILE, START_FILE):
            where = f"{index.config.url}{file}"
            try:
                page = index.access.read_archive(where, limits.download)
            except NotFoundError:
                continue
            if header := read_header(page):
                pages[where] = page, header
        return cls(index, limits, name, pages) if pages else None

    def check_skill(self, summary: CatalogSkill, releases: SkillReleases, tree: FileTree | None) -> None:
        """Check the file of a skill, if the same versions wrote it."""
        expected = self._builder.add(summary, releases, tree)
        where = f"{self._index.config.url}{skill_page_path(summary.name)}"
        if not self._is_comparable:
            return
        try:
            if self._index.access.read_archive(where, self._limits.download) != expected:
                self._skill_problems.append(IndexProblem(where=where, message=self._changed_message))
        except SkillpmError as error:
            self._skill_problems.append(_to_problem(error, where))

    def check_pages(self) -> Iterator[IndexProblem]:
        """Yield the problems of the pages, and of the files of the skills unless they show another state, too."""
        found = {where: self._builder.find_problem(*page) for where, page in self._pages.items()}
        for where, problem in found.items():
            if problem:
                yield IndexProblem(where=where, message=problem)
        if found.get(f"{self._index.config.url}{PAGE_FILE}") is None:
            yield from self._skill_problems


def _checksum_error(url: str, expected: str, actual: str) -> RefusedError:
    return RefusedError(f"{url} has SHA-256 {actual}, the index says {expected}")


def _to_problem(error: SkillpmError, where: str) -> IndexProblem:
    return IndexProblem(where=error.where or where, message=error.message)
