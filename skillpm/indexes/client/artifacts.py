"""The bytes of what an index offers: taken whole, and looked into only where their sum is right."""

from collections.abc import Callable
from urllib.parse import quote

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import FileTree, Limits, SourceEntry
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.versions import ANY, is_version, matches
from skillpm.errors import NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.archives.archive_reader import GZIP_MAGIC, ZIP_MAGICS, read_archive
from skillpm.fetchers.base import FetchedSkill
from skillpm.formats.index_sources import is_local
from skillpm.indexes.client.index import Index, IndexRelease
from skillpm.requirements.declared_dependencies import dependency_mismatch
from skillpm.requirements.source import IndexSource

MakeMismatchError = Callable[[str], SkillpmError]


def fetch_artifact(
    index: Index, release: IndexRelease, name: str, limits: Limits, make_error: MakeMismatchError
) -> tuple[str, FileTree]:
    """Give the SHA-256 of what an offering is, and its tree. The sum is checked before anything looks inside: other
    bytes are the error that `wrong` makes of what they are.
    """
    if release.url.endswith("/"):
        tree = _fetch_folder(index, release, name, limits)
        return _check_sha256(tree.digest.removeprefix("sha256:"), release, make_error), tree
    try:
        data = index.access.read_archive(release.url, limits.download)
    except NotFoundError as error:
        raise NotFoundError(
            f"the index {index.config.name} names an archive of `{name}` that is not there: {error.message}",
            where=error.where,
            hint="tell whoever keeps the index; nothing was changed",
        ) from None
    return read_artifact(release, data, name, limits, make_error)


def read_artifact(
    release: IndexRelease, data: bytes, name: str, limits: Limits, make_error: MakeMismatchError
) -> tuple[str, FileTree]:
    """Look inside the bytes of an artifact, when their sum is right."""
    return _check_sha256(content_hash(data), release, make_error), _read_tree(release, data, name, limits)


def _fetch_folder(index: Index, release: IndexRelease, name: str, limits: Limits) -> FileTree:
    """Take the files of a skill one by one (v0.1.0); what they were is told by the digest of them all."""
    files = release.files
    if not files:
        listed = index.list_releases(SkillName(name))
        files = listed[0].files if listed and listed[0].url == release.url else ()
    entries, room = [], limits.skill
    if len(files) > limits.files:
        raise RefusedError(f"skill {name}: it has more than {limits.files} files (SKILLPM_MAX_FILES)")
    for path in files:
        address = release.url + (path if is_local(release.url) else quote(path))
        data = index.access.read_archive(address, min(limits.file, room))
        room -= len(data)
        entries.append(SourceEntry(path=path, data=data))
    return check_tree(entries, name=name, limits=limits)


def _check_sha256(actual: str, release: IndexRelease, make_error: MakeMismatchError) -> str:
    if release.sha256 and actual != release.sha256:
        raise make_error(actual)
    return actual


def _read_tree(release: IndexRelease, data: bytes, name: str, limits: Limits) -> FileTree:
    """Read an artifact as what the index says that it is; a lock says nothing, and then its bytes do."""
    is_archive = data.startswith((GZIP_MAGIC, *ZIP_MAGICS))
    if release.kind and is_archive != (release.kind == "archive"):
        what = "an archive" if is_archive else "no archive"
        said = "an archive" if release.kind == "archive" else "a SKILL.md"
        raise RefusedError(f"`{name}`: {sanitize(release.url)} is {what}, and the index says {said}")
    if not is_archive:
        return check_tree([SourceEntry(path="SKILL.md", data=data)], name=name, limits=limits)
    return check_tree(read_archive(data, release.url, limits), name=name, limits=limits)


def release_mismatch_error(name: str, release: IndexRelease, actual: str) -> RefusedError:
    """Tell what came and what the index says of it: of the bytes, or of the content."""
    said = release.digest if actual.startswith("sha256:") else release.sha256
    return RefusedError(
        f"`{name}` is not what the index {release.index.name} says: "
        f"{sanitize(release.url)} is {actual}, and the index says {said}",
        hint="somebody changed the archive or the index; nothing was changed here",
    )


def check_declared_name(declared: str, name: str, release: IndexRelease) -> None:
    """Raise `RefusedError` for a skill that calls itself otherwise than its index does."""
    if declared and declared != name:
        raise RefusedError(
            f"the index {release.index.name} offers {sanitize(release.url)} as `{name}`, "
            f"and the skill calls itself `{sanitize(declared, 80)}`",
            hint="tell whoever keeps the index; nothing was installed",
        )


def apply_release_version(
    name: SkillName, source: IndexSource, release: IndexRelease, skill: FetchedSkill, warn: Callable[[str], None]
) -> FetchedSkill:
    """Give a skill the version that its index says; a site says none.

    Raises `RefusedError` where the index has said other needs than the skill does: it was chosen by these.
    """
    if release.version:
        if skill.version and skill.version.removeprefix("v") != release.version:
            warn(f"{name}: the index says version {release.version}, SKILL.md says {sanitize(skill.version)}")
        said = skill.dependencies if release.dependencies is None else release.dependencies
        if told := dependency_mismatch(said, skill.dependencies):
            raise RefusedError(
                f"the index {release.index.name} says other needs of `{name}` {release.version} than the skill "
                f"does: {told}",
                hint="tell whoever keeps the index; nothing was changed",
            )
        return skill.replace(version=release.version)
    if source.version.strip() != ANY and not (is_version(skill.version) and matches(source.version, skill.version)):
        says = f"says that it is {sanitize(skill.version)}" if skill.version else "says no version"
        raise NotFoundError(
            f"the index {release.index.name} has no `{name}` {source.version}: the only one {says}",
            hint="ask for any version",
        )
    return skill
