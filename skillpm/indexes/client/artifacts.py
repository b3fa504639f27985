"""Download the artifacts of an index; nothing parses their bytes before the checksum was verified."""

from collections.abc import Callable
from urllib.parse import quote

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.versions import ANY, is_version, matches
from skillpm.errors import NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.archives.archive_reader import GZIP_MAGIC, ZIP_MAGICS, read_archive
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.indexes.client.index import Index, IndexRelease
from skillpm.kinds.base import is_local
from skillpm.kinds.index import IndexSource
from skillpm.requirements.declared_dependencies import dependency_mismatch
from skillpm.trust.bundle import MAX_BUNDLE_SIZE

# Of one version; each costs a request.
MAX_SIGNATURES = 20
MakeMismatchError = Callable[[str], SkillpmError]


def fetch_artifact(
    index: Index, release: IndexRelease, name: str, limits: Limits, make_error: MakeMismatchError
) -> tuple[str, FileTree]:
    """Return the SHA-256 of a release's artifact, and its tree.

    If the checksum differs from the expected one, raises the error that `make_error` returns for the actual one.
    """
    if release.url.endswith("/"):
        tree = _fetch_folder(index, release, name, limits)
        return _check_sha256(tree.digest.removeprefix("sha256:"), release, make_error), tree
    try:
        data = index.access.read_archive(release.url, limits.download)
    except NotFoundError as error:
        raise NotFoundError(
            f"`{name}`: the archive that the index {index.config.name} lists is missing: {error.message}",
            where=error.where,
            hint="report it to the index maintainer; nothing was changed",
        ) from None
    return read_artifact(release, data, name, limits, make_error)


def read_artifact(
    release: IndexRelease, data: bytes, name: str, limits: Limits, make_error: MakeMismatchError
) -> tuple[str, FileTree]:
    """Return the SHA-256 of an artifact and its tree, like `fetch_artifact`."""
    return _check_sha256(content_hash(data), release, make_error), _read_tree(release, data, name, limits)


def fetch_signatures(index: Index, release: IndexRelease) -> list[bytes]:
    """Return the signatures that an index publishes beside a version, each checked by its checksum."""
    signatures = []
    for each in release.signatures[:MAX_SIGNATURES]:
        url = release.resolve(each.url)
        # As a document: it is cached, so that it is known offline.
        text = index.access.read_document(url) if each.size <= MAX_BUNDLE_SIZE else None
        data = (text or "").encode()
        if content_hash(data) != each.sha256:
            raise RefusedError(f"{sanitize(url)} is not what the index {index.config.name} says")
        signatures.append(data)
    return signatures


def _fetch_folder(index: Index, release: IndexRelease, name: str, limits: Limits) -> FileTree:
    """Download the files of a skill one by one (discovery v0.1.0)."""
    files = release.files
    if not files:
        # A lockfile records only the folder: v0.1.0 has no checksums, and the tree's digest covers the list of files.
        releases = index.list_releases(SkillName(name))
        files = releases[0].files if releases and releases[0].url == release.url else ()
    entries, remaining = [], limits.skill
    if len(files) > limits.files:  # checked before the downloads, not after a million requests
        raise RefusedError(f"skill {name}: more than {limits.files} files (SKILLPM_MAX_FILES)")
    for path in files:
        address = release.url + (path if is_local(release.url) else quote(path))
        data = index.access.read_archive(address, min(limits.file, remaining))
        remaining -= len(data)
        entries.append(SourceEntry(path=path, data=data))
    return check_tree(entries, name=name, limits=limits)


def _check_sha256(actual: str, release: IndexRelease, make_error: MakeMismatchError) -> str:
    if release.sha256 and actual != release.sha256:
        raise make_error(actual)
    return actual


def _read_tree(release: IndexRelease, data: bytes, name: str, limits: Limits) -> FileTree:
    """Read an artifact as the type that the index declares; a lockfile declares none, so the bytes decide."""
    is_archive = data.startswith((GZIP_MAGIC, *ZIP_MAGICS))
    if release.kind and is_archive != (release.kind == "archive"):
        actual = "an archive" if is_archive else "not an archive"
        declared = "an archive" if release.kind == "archive" else "a SKILL.md"
        raise RefusedError(f"`{name}`: {sanitize(release.url)} is {actual}, the index declares {declared}")
    if not is_archive:
        return check_tree([SourceEntry(path="SKILL.md", data=data)], name=name, limits=limits)
    return check_tree(read_archive(data, release.url, limits), name=name, limits=limits)


def release_mismatch_error(name: str, release: IndexRelease, actual: str) -> RefusedError:
    """Return the error for an artifact whose checksum, or content digest (`sha256:...`), is not that of the index."""
    is_digest = actual.startswith("sha256:")
    kind, expected = ("content digest", release.digest) if is_digest else ("SHA-256", release.sha256)
    return RefusedError(
        f"`{name}` does not match the index {release.index.name}: "
        f"{sanitize(release.url)} has {kind} {actual}, the index says {expected}",
        hint="the archive or the index was modified; nothing was changed here",
    )


def check_declared_name(declared: str, name: str, release: IndexRelease) -> None:
    """Check the name in a skill's SKILL.md. Raises `RefusedError` if the index lists it under another one."""
    if declared and declared != name:
        raise RefusedError(
            f"`{name}`: the index {release.index.name} lists {sanitize(release.url)}, "
            f"whose SKILL.md has the name `{sanitize(declared, 80)}`",
            hint="report it to the index maintainer; nothing was installed",
        )


def apply_release_version(
    name: SkillName, source: IndexSource, release: IndexRelease, skill: FetchedSkill, warn: Callable[[str], None]
) -> FetchedSkill:
    """Return a skill with the version that the index publishes; a discovery site publishes none.

    Raises `NotFoundError` if a skill of a site is not in the required range, and `RefusedError` if the dependencies in
    the index are not those in the skill: the resolver chose the release by the former.
    """
    if release.version:
        if skill.version and skill.version.removeprefix("v") != release.version:
            warn(f"{name}: the index says version {release.version}, SKILL.md says {sanitize(skill.version)}")
        published = skill.dependencies if release.dependencies is None else release.dependencies
        if mismatch := dependency_mismatch(published, skill.dependencies):
            raise RefusedError(
                f"`{name}` {release.version}: dependencies in the index {release.index.name} differ from those in the "
                f"skill: {mismatch}",
                hint="report it to the index maintainer; nothing was changed",
            )
        return skill.replace(version=release.version)
    if source.version.strip() != ANY and not (is_version(skill.version) and matches(source.version, skill.version)):
        only = f"the only version is {sanitize(skill.version)}" if skill.version else "its only release has no version"
        raise NotFoundError(
            f"`{name}`: no version in the index {release.index.name} satisfies {source.version}: {only}",
            hint="require any version",
        )
    return skill
