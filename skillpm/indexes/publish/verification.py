"""Prove an index: every document, every archive, every sum, as a client would meet them."""

from collections.abc import Callable, Iterator
from functools import partial

from skillpm.core.file_tree import Limits, Tree
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.metadata import dependencies_of
from skillpm.formats.index_catalog import Catalogue, Summary, read_catalogue
from skillpm.formats.index_releases import Release, Releases, read_releases
from skillpm.formats.well_known import PATH
from skillpm.indexes.client.artifacts import open_artifact, take_artifact
from skillpm.indexes.client.index import Index, Offering
from skillpm.indexes.publish.release_merge import faults, other_version, summary_of
from skillpm.requirements.declared_dependencies import told_otherwise
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


class Problem(Value):
    """Something that is not as it must be: where, and what."""

    where: str
    message: str


class _Seen:
    """What was met on the way: the versions of each skill that is offered, and what its newest SKILL.md says."""

    def __init__(self) -> None:
        self.releases: dict[SkillName, Releases] = {}
        self.skills: dict[SkillName, Skill] = {}


def prove(index: Index, limits: Limits, warn: Callable[[str], None]) -> Iterator[Problem]:
    """Look at everything an index offers, and give all that is wrong with it; nothing is kept.

    `warn` is told what is not wrong, but has everybody warned who installs it.
    """
    top = f"{index.place.url}index.json"
    try:
        text = index.access.document(top)
        if text is None:
            yield from _site(index, limits, None)
            return
        catalogue = read_catalogue(text, top)
    except SkillpmError as error:
        yield _told(error, top)
        return
    seen = _Seen()
    for summary in catalogue.skills:
        yield from _skill(index, summary, seen, limits)
    for name, releases in seen.releases.items():
        if releases.latest and name in seen.skills:
            said = other_version("the index", releases.latest.version, seen.skills[name])
            if said:
                warn(f"{name}: {said}")
    newest = {name: releases.latest.sha256 for name, releases in seen.releases.items() if releases.latest}
    yield from _site(index, limits, newest)
    yield from _page(index, limits, catalogue, seen)


def _skill(index: Index, summary: Summary, seen: _Seen, limits: Limits) -> Iterator[Problem]:
    where = f"{index.place.url}skills/{summary.name}.json"
    try:
        text = index.access.document(where)
        if text is None:
            yield Problem(where=where, message="it is not there, and the catalogue names it")
            return
        releases = read_releases(text, where, summary.name)
    except SkillpmError as error:
        yield _told(error, where)
        return
    if releases.latest is not None:
        seen.releases[summary.name] = releases
    for release in releases.versions:
        yield from _release(index, summary, releases, release, limits, seen)


def _release(
    index: Index, summary: Summary, releases: Releases, release: Release, limits: Limits, seen: _Seen
) -> Iterator[Problem]:
    where = f"{releases.name} {release.version}"
    try:
        url = index.access.lead(f"{index.place.url}index.json", release.url)
        offering = Offering(index=index.place, url=url, sha256=release.sha256, kind="archive")
        data = index.access.archive(url, limits.download)
        tree = open_artifact(offering, data, releases.name, limits, lambda found: _other(url, release.sha256, found))[1]
    except SkillpmError as error:
        yield _told(error, where)
        return
    if len(data) != release.size:
        yield Problem(where=where, message=f"the archive has {len(data)} bytes, and the index says {release.size}")
    if tree.digest != release.digest:
        yield Problem(where=where, message=f"the skill's digest is {tree.digest}, and the index says {release.digest}")
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
    except NotLoadable as error:
        yield Problem(where=where, message=f"it cannot be loaded: {error.finding.message}")
        return
    if release == releases.latest:
        seen.skills[releases.name] = skill
    yield from _needs(releases.name, release, tree, skill)
    for fault in faults(tree, releases.name):
        yield Problem(where=where, message=f"it is not valid: {fault}")
    if releases.latest is None or releases.latest.version != summary.latest:
        if release == releases.versions[0]:
            yield Problem(where=where, message=f"the catalogue says that the newest is {summary.latest}")
    elif release == releases.latest and summary_of(releases.name, release.version, tree) != summary:
        yield Problem(where=where, message="the catalogue describes it otherwise than its SKILL.md does")


def _needs(name: SkillName, release: Release, tree: Tree, skill: Skill) -> Iterator[Problem]:
    """Hold what the index says that a version needs against what the skill says."""
    where = f"{name} {release.version}"
    try:
        own = dependencies_of(tree, skill, name)
    except RefusedError as error:
        yield Problem(where=where, message=f"what the skill needs cannot be read: {error}")
        return
    if told := told_otherwise(release.dependencies, own):
        yield Problem(where=where, message=f"it says other needs than the skill does: {told}")


def _site(index: Index, limits: Limits, newest: dict[SkillName, str] | None) -> Iterator[Problem]:
    """Look at what other clients see; for an index of ours it must be the newest of each."""
    is_ours, newest = newest is not None, newest or {}
    try:
        document, site = index.site()
    except SkillpmError as error:
        yield _told(error, index.place.url + PATH)
        return
    for problem in site.problems:
        yield Problem(where=document, message=problem)
    for name in sorted({*newest} - {skill.name for skill in site.skills}):
        yield Problem(where=document, message=f"`{name}` is not there")
    for skill in site.skills:
        if newest.get(skill.name) == skill.sha256:
            continue  # the archive was looked at already
        if is_ours:
            known = skill.name in newest
            why = "is not the newest of the index" if known else "is there, and the catalogue offers none of that name"
            yield Problem(where=document, message=f"`{skill.name}` {why}")
            continue
        try:
            url = document.rpartition("/")[0] + f"/{skill.name}/" if skill.files else ""
            offering = Offering(
                index=index.place,
                url=url or index.access.lead(document, skill.url),
                sha256=skill.sha256,
                kind=skill.type,
                files=skill.files,
            )
            wrong = partial(_other, skill.url, skill.sha256)
            tree = take_artifact(index, offering, skill.name, limits, wrong)[1]
            declared = read_skill(tree.read(tree.skill_file) or b"").declared
            if declared != skill.name:
                yield Problem(where=document, message=f"`{skill.name}` calls itself `{declared}`")
        except NotLoadable as error:
            yield Problem(where=document, message=f"`{skill.name}` cannot be loaded: {error.finding.message}")
        except SkillpmError as error:
            yield _told(error, document)


def _page(index: Index, limits: Limits, catalogue: Catalogue, seen: _Seen) -> Iterator[Problem]:
    """Look at the page for people, where there is one and where all is known that it must say."""
    where = f"{index.place.url}catalog.html"
    try:
        page = index.access.archive(where, limits.download)
    except NotFoundError:
        return
    except SkillpmError as error:
        yield _told(error, where)
        return
    if all(summary.name in seen.skills for summary in catalogue.skills):
        from skillpm.indexes.page.page_builder import fault_of  # noqa: PLC0415  (jinja2 and more, only for a page)

        rows = [(summary, seen.releases[summary.name]) for summary in catalogue.skills]
        fault = fault_of(page, catalogue.name, rows, seen.skills)
        if fault is not None:
            yield Problem(where=where, message=fault)


def _other(url: str, said: str, found: str) -> RefusedError:
    return RefusedError(f"{url} has the SHA-256 {found}, and the index says {said}")


def _told(error: SkillpmError, where: str) -> Problem:
    return Problem(where=error.where or where, message=error.message)
