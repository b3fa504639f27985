"""`index page`: the HTML catalog of skills in OCI registries, in a folder of static files."""

import os
from collections.abc import Sequence
from typing import cast

from skillpm.core.exclude_newer import to_utc
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, RefusedError, UsageError
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.formats.oci.manifest import VERSION_KEYS, SkillManifest, find_annotation
from skillpm.kinds.oci import OciPin, OciSource, tag_version
from skillpm.publishing.index.index_builder import IndexBuildResult
from skillpm.publishing.index.output_dir import (
    CATALOG_FILE,
    check_output_dir,
    check_skill_pages,
    has_own_page,
    write_files,
)
from skillpm.publishing.index.page_files import ShownSkill, remove_stale_page_files, render_page_files
from skillpm.publishing.index.release_merge import build_summary
from skillpm.publishing.libraries import require_libraries
from skillpm.requirements.specifier import parse_specifier
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.skillmd.skill import read_skill

EXAMPLE = "e.g. oci://ghcr.io/acme/skills/all:latest"


class _ListedSkill(Value):
    source: OciSource
    # What installs it.
    spec: str


def write_oci_page(session: Session, specs: Sequence[str], output: str, *, name: str = "") -> IndexBuildResult:
    """Write the page of all skills of these collections and repositories; `name` is its title.

    Raises `RefusedError` for a folder with an index or a page that skillpm did not write.
    """
    require_libraries()
    fetchers = make_fetchers(Project(user_scope(session.settings), session))
    sources = [(spec, _parse_spec(spec)) for spec in specs]
    folder = os.path.join(session.settings.working_directory, output)
    check_output_dir(folder)
    if os.path.lexists(os.path.join(folder, CATALOG_FILE)):
        hint = "its page is written by `skillpm index build`; pass --out with another folder"
        raise RefusedError(f"{sanitize(output)} is an index", hint=hint)
    has_own_page(folder, will_replace=True)
    listed: dict[SkillName, _ListedSkill] = {}
    for spec, source in sources:
        for each in fetchers.list_skills(source):
            skill = parse_skill_name(each.name, where=spec)
            if skill in listed:
                raise ConflictError(f"`{skill}` is in {sanitize(listed[skill].spec)} and in {sanitize(spec)}")
            own = cast("OciSource", each.source)
            chosen = f" --skill {skill}" if own.skill else ""
            listed[skill] = _ListedSkill(source=own, spec=f"{shell_word(spec)}{chosen}")
    fetched = fetchers.pin({skill: listed[skill].source for skill in sorted(listed)})
    manifests = fetchers.read_manifests({skill: _pin_of(each) for skill, each in fetched.items()})
    check_skill_pages(folder, fetched)
    shown = (_show(session, skill, listed[skill], each, manifests[skill]) for skill, each in fetched.items())
    title = name or sources[0][1].repository
    written = write_files(folder, render_page_files(folder, title, shown), fsync=session.settings.fsync)
    removed = remove_stale_page_files(folder, [*fetched])
    count = len(fetched)
    return IndexBuildResult(skill_count=count, version_count=count, written=tuple(sorted(written)), removed=removed)


def _parse_spec(spec: str) -> OciSource:
    source = parse_specifier(spec).source
    if not isinstance(source, OciSource):
        raise UsageError(f"`{sanitize(spec)}` is not a collection or a skill in an OCI registry", hint=EXAMPLE)
    return source


def _pin_of(skill: FetchedSkill) -> OciPin:
    return cast("OciPin", skill.pin)


def _show(
    session: Session, name: SkillName, listed: _ListedSkill, skill: FetchedSkill, manifest: SkillManifest
) -> ShownSkill:
    pin = _pin_of(skill)
    if skill.digest is None:
        raise AssertionError("skills in registries have a digest")
    tree = session.store.read(skill.digest, pin.store_variant())
    if tree is None:
        raise AssertionError("it was stored when it was fetched")
    version = _version_of(listed.source, pin, manifest, tree)
    release = Release(
        version=version,
        url=f"oci://{pin.repository}@{pin.manifest}",
        digest=skill.digest,
        sha256=pin.layer.removeprefix("sha256:"),
        size=manifest.layer.size,
        dependencies=skill.dependencies,
        published=to_utc(manifest.created),
    )
    releases = SkillReleases(name=name, versions=(release,))
    return ShownSkill(summary=build_summary(name, version, tree), releases=releases, tree=tree, spec=listed.spec)


def _version_of(source: OciSource, pin: OciPin, manifest: SkillManifest, tree: FileTree) -> str:
    """Return the version of a skill; the tag of a collection is not that of its skills."""
    tag = "" if source.skill else tag_version(pin.tag)
    own = read_skill(tree.read(tree.skill_file) or b"").version
    version = tag or find_annotation(manifest.annotations, VERSION_KEYS) or own or pin.tag
    return sanitize(version or pin.manifest.removeprefix("sha256:")[:12], 60)
