"""Prove an index: every document, every archive, every sum, as a client would meet them."""

from collections.abc import Callable, Iterator
from functools import partial

from skillpm.core.file_tree import FileTree, Limits
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.metadata import read_dependencies
from skillpm.formats.index_catalog import Catalog, SkillSummary, read_catalog
from skillpm.formats.index_releases import Release, SkillReleases, read_releases
from skillpm.formats.well_known import WELL_KNOWN_PATH
from skillpm.indexes.client.artifacts import fetch_artifact, read_artifact
from skillpm.indexes.client.index import Index, IndexRelease
from skillpm.indexes.publish.release_merge import build_summary, find_errors, version_mismatch_message
from skillpm.requirements.declared_dependencies import dependency_mismatch
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


class IndexProblem(Value):
    """Something that is not as it must be: where, and what."""

    where: str
    message: str


class _CheckState:
    """What was met on the way: the versions of each skill that is offered, and what its newest SKILL.md says."""

    def __init__(self) -> None:
        self.releases: dict[SkillName, SkillReleases] = {}
        self.skills: dict[SkillName, Skill] = {}


def verify_index(index: Index, limits: Limits, warn: Callable[[str], None]) -> Iterator[IndexProblem]:
    """Look at everything an index offers, and give all that is wrong with it; nothing is kept.

    `warn` is told what is not wrong, but has everybody warned who installs it.
    """
    top = f"{index.config.url}index.json"
    try:
        text = index.access.read_document(top)
        if text is None:
            yield from _check_site(index, limits, None)
            return
        catalogue = read_catalog(text, top)
    except SkillpmError as error:
        yield _to_problem(error, top)
        return
    seen = _CheckState()
    for summary in catalogue.skills:
        yield from _check_skill(index, summary, seen, limits)
    for name, releases in seen.releases.items():
        if releases.latest and name in seen.skills:
            said = version_mismatch_message("the index", releases.latest.version, seen.skills[name])
            if said:
                warn(f"{name}: {said}")
    newest = {name: releases.latest.sha256 for name, releases in seen.releases.items() if releases.latest}
    yield from _check_site(index, limits, newest)
    yield from _check_page(index, limits, catalogue, seen)


def _check_skill(index: Index, summary: SkillSummary, state: _CheckState, limits: Limits) -> Iterator[IndexProblem]:
    where = f"{index.config.url}skills/{summary.name}.json"
    try:
        text = index.access.read_document(where)
        if text is None:
            yield IndexProblem(where=where, message="it is not there, and the catalogue names it")
            return
        releases = read_releases(text, where, summary.name)
    except SkillpmError as error:
        yield _to_problem(error, where)
        return
    if releases.latest is not None:
        state.releases[summary.name] = releases
    for release in releases.versions:
        yield from _check_release(index, summary, releases, release, limits, state)


def _check_release(
    index: Index, summary: SkillSummary, releases: SkillReleases, release: Release, limits: Limits, state: _CheckState
) -> Iterator[IndexProblem]:
    where = f"{releases.name} {release.version}"
    try:
        url = index.access.resolve_url(f"{index.config.url}index.json", release.url)
        offering = IndexRelease(index=index.config, url=url, sha256=release.sha256, kind="archive")
        data = index.access.read_archive(url, limits.download)
        tree = read_artifact(
            offering, data, releases.name, limits, lambda found: _checksum_error(url, release.sha256, found)
        )[1]
    except SkillpmError as error:
        yield _to_problem(error, where)
        return
    if len(data) != release.size:
        yield IndexProblem(where=where, message=f"the archive has {len(data)} bytes, and the index says {release.size}")
    if tree.digest != release.digest:
        yield IndexProblem(
            where=where, message=f"the skill's digest is {tree.digest}, and the index says {release.digest}"
        )
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
    except NotLoadable as error:
        yield IndexProblem(where=where, message=f"it cannot be loaded: {error.finding.message}")
        return
    if release == releases.latest:
        state.skills[releases.name] = skill
    yield from _check_dependencies(releases.name, release, tree, skill)
    for fault in find_errors(tree, releases.name):
        yield IndexProblem(where=where, message=f"it is not valid: {fault}")
    if releases.latest is None or releases.latest.version != summary.latest:
        if release == releases.versions[0]:
            yield IndexProblem(where=where, message=f"the catalogue says that the newest is {summary.latest}")
    elif release == releases.latest and build_summary(releases.name, release.version, tree) != summary:
        yield IndexProblem(where=where, message="the catalogue describes it otherwise than its SKILL.md does")


def _check_dependencies(name: SkillName, release: Release, tree: FileTree, skill: Skill) -> Iterator[IndexProblem]:
    """Hold what the index says that a version needs against what the skill says."""
    where = f"{name} {release.version}"
    try:
        own = read_dependencies(tree, skill, name)
    except RefusedError as error:
        yield IndexProblem(where=where, message=f"what the skill needs cannot be read: {error}")
        return
    if told := dependency_mismatch(release.dependencies, own):
        yield IndexProblem(where=where, message=f"it says other needs than the skill does: {told}")


def _check_site(index: Index, limits: Limits, newest: dict[SkillName, str] | None) -> Iterator[IndexProblem]:
    """Look at what other clients see; for an index of ours it must be the newest of each."""
    is_ours, newest = newest is not None, newest or {}
    try:
        document, site = index.load_site()
    except SkillpmError as error:
        yield _to_problem(error, index.config.url + WELL_KNOWN_PATH)
        return
    for problem in site.problems:
        yield IndexProblem(where=document, message=problem)
    for name in sorted({*newest} - {skill.name for skill in site.skills}):
        yield IndexProblem(where=document, message=f"`{name}` is not there")
    for skill in site.skills:
        if newest.get(skill.name) == skill.sha256:
            continue  # the archive was looked at already
        if is_ours:
            known = skill.name in newest
            why = "is not the newest of the index" if known else "is there, and the catalogue offers none of that name"
            yield IndexProblem(where=document, message=f"`{skill.name}` {why}")
            continue
        try:
            url = document.rpartition("/")[0] + f"/{skill.name}/" if skill.files else ""
            offering = IndexRelease(
                index=index.config,
                url=url or index.access.resolve_url(document, skill.url),
                sha256=skill.sha256,
                kind=skill.type,
                files=skill.files,
            )
            wrong = partial(_checksum_error, skill.url, skill.sha256)
            tree = fetch_artifact(index, offering, skill.name, limits, wrong)[1]
            declared = read_skill(tree.read(tree.skill_file) or b"").declared
            if declared != skill.name:
                yield IndexProblem(where=document, message=f"`{skill.name}` calls itself `{declared}`")
        except NotLoadable as error:
            yield IndexProblem(where=document, message=f"`{skill.name}` cannot be loaded: {error.finding.message}")
        except SkillpmError as error:
            yield _to_problem(error, document)


def _check_page(index: Index, limits: Limits, catalog: Catalog, state: _CheckState) -> Iterator[IndexProblem]:
    """Look at the page for people, where there is one and where all is known that it must say."""
    where = f"{index.config.url}catalog.html"
    try:
        page = index.access.read_archive(where, limits.download)
    except NotFoundError:
        return
    except SkillpmError as error:
        yield _to_problem(error, where)
        return
    if all(summary.name in state.skills for summary in catalog.skills):
        from skillpm.indexes.page.page_builder import find_page_problem  # noqa: PLC0415  (jinja2 and more, only for a page)

        rows = [(summary, state.releases[summary.name]) for summary in catalog.skills]
        fault = find_page_problem(page, catalog.name, rows, state.skills)
        if fault is not None:
            yield IndexProblem(where=where, message=fault)


def _checksum_error(url: str, expected: str, actual: str) -> RefusedError:
    return RefusedError(f"{url} has the SHA-256 {actual}, and the index says {expected}")


def _to_problem(error: SkillpmError, where: str) -> IndexProblem:
    return IndexProblem(where=error.where or where, message=error.message)
