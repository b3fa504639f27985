"""Open an index folder for changes, locked; with a copy of an index that is published already (`--onto`)."""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256

from skillpm.cachedir import PUBLISH_LOCK_DIR, tag_cache_folder
from skillpm.core.digest import content_hash
from skillpm.core.limits import Limits
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import pluralize, sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, RefusedError
from skillpm.files import is_writable, read_text, translate_os_errors
from skillpm.formats.index_catalog import read_catalog
from skillpm.formats.index_releases import SkillReleases, read_releases
from skillpm.indexes.client.index import Index
from skillpm.installer.disk.skill_file import find_skill_folders
from skillpm.locks import hold_lock
from skillpm.publishing.index.index_builder import IndexWriter
from skillpm.publishing.index.output_dir import CATALOG_FILE, check_output_dir, write_files
from skillpm.publishing.index.release_merge import archive_path, signature_path
from skillpm.publishing.libraries import require_libraries
from skillpm.scope.project import Session
from skillpm.scope.scope_fetchers import open_index


@contextmanager
def open_index_writer(
    session: Session,
    output: str,
    *,
    must_exist: bool = False,
    page: bool | None = None,
    onto: str = "",
    sources: Sequence[str] = (),
) -> Iterator[IndexWriter]:
    """Open the index in a folder for changes: with an HTML catalog, without one, or (`page=None`) as it is today.

    With `onto`, the index that is published there is copied into the folder first; `sources` are what will be added.

    The index is locked before it is read, so that two builds cannot undo each other's changes. The lock file is in the
    cache, since everything in the folder is published.
    """
    require_libraries()
    settings, warn = session.settings, session.reporter.warn
    folder = os.path.join(settings.working_directory, output)
    with _lock_index(session, folder):
        if onto:
            _copy_published(session, onto, folder, sources)
        writer = IndexWriter(folder, limits=settings.limits, warn=warn, fsync=settings.fsync, with_page=page)
        if must_exist and writer.is_new:
            raise NotFoundError(
                f"{sanitize(output)} is not an index: it has no index.json",
                hint="create one with `skillpm index build`",
            )
        yield writer


def _copy_published(session: Session, location: str, folder: str, sources: Sequence[str]) -> None:
    settings = session.settings
    paths = [os.path.join(settings.working_directory, source) for source in sources]
    below = {os.path.basename(os.path.realpath(inside)) for path in paths for inside in find_skill_folders(path)}
    also = {SkillName(name) for name in below if is_skill_name(name)}
    copied = copy_published_index(open_index(session, location), folder, settings.limits, also, fsync=settings.fsync)
    session.reporter.log_verbose(f"copied {pluralize(copied.version_count, 'version')} from {sanitize(location)}")


def _lock_index(session: Session, folder: str) -> AbstractContextManager[object]:
    """Lock the folder by its real path; if the cache is not writable, proceed without a lock."""
    settings = session.settings
    if not is_writable(settings.cache_dir):
        return nullcontext()
    with translate_os_errors("mark the cache", settings.cache_dir):
        tag_cache_folder(settings.cache_dir)
    key = sha256(os.path.realpath(folder).encode(errors="surrogateescape")).hexdigest()
    lock = os.path.join(settings.cache_dir, PUBLISH_LOCK_DIR, f"{key[:32]}.lock")
    return hold_lock(lock, settings.lock_timeout, f"the index in {sanitize(folder)}", session.reporter.warn)


class CopiedIndex(Value):
    """How much was copied."""

    skill_count: int
    version_count: int


def copy_published_index(
    index: Index, folder: str, limits: Limits, also: Collection[SkillName] = (), *, fsync: bool = True
) -> CopiedIndex:
    """Copy documents and archives into a folder without an index; every archive is verified by its checksum.

    A skill all of whose versions are yanked is in no catalog; it is found if its name is among `also`. Archives with
    absolute URLs stay where they are. The catalog is written last: an interrupted copy leaves no index.

    Raises `RefusedError` for a folder with another index and for an archive that differs, `NotFoundError` for an
    address without an index.
    """
    check_output_dir(folder)
    address = index.config.url
    top = index.access.read_document(f"{address}{CATALOG_FILE}")
    if top is None:
        raise NotFoundError(
            f"there is no index at {sanitize(address)}: {CATALOG_FILE} does not exist",
            hint="check the address; to publish an index for the first time, omit --onto; nothing was written",
        )
    # A copy of it is what a build leaves that failed later, for example because of an invalid skill.
    if read_text(os.path.join(folder, CATALOG_FILE)) not in {None, top}:
        hint = "pass --out with a new folder, or add to this index without --onto"
        raise RefusedError(f"{sanitize(folder)} contains another index already", hint=hint)
    names = {skill.name for skill in read_catalog(top, f"{address}{CATALOG_FILE}").skills}
    versions = 0
    for name in sorted({*names, *also}):
        document = f"{address}skills/{name}.json"
        text = index.access.read_document(document)
        if text is None and name in names:
            raise NotFoundError(f"`{name}`: the index lists it, but {sanitize(document)} does not exist")
        if text is None:
            continue
        releases = read_releases(text, document, name)
        write_files(folder, _read_archives(index, releases, document, limits), fsync=fsync)
        write_files(folder, [(f"skills/{name}.json", text.encode())], fsync=fsync)
        versions += len(releases.versions)
    write_files(folder, [(CATALOG_FILE, top.encode())], fsync=fsync)
    return CopiedIndex(skill_count=len(names), version_count=versions)


def _read_archives(index: Index, releases: SkillReleases, document: str, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """Yield the archives of a skill with their paths, verified."""
    for release in releases.versions:
        if "://" in release.url:
            continue
        what = f"`{releases.name}` {release.version}"
        path = archive_path(releases.name, release.version)
        if release.url != path:  # which `index build` never writes; another path could be any file of the folder
            raise RefusedError(f"{what}: its archive is {sanitize(release.url)}, not {path}", where=document)
        data = index.access.read_archive(f"{index.config.url}{path}", limits.download)
        if content_hash(data) != release.sha256:
            hint = "report it to the index maintainer; nothing was published"
            raise RefusedError(f"{what}: {path} does not have the published checksum", where=document, hint=hint)
        yield path, data
        for signature in release.signatures:
            if signature.url != signature_path(releases.name, release.version, signature.sha256):
                raise RefusedError(f"{what}: unexpected path of a signature: {sanitize(signature.url)}", where=document)
            data = index.access.read_archive(f"{index.config.url}{signature.url}", limits.download)
            if content_hash(data) != signature.sha256:
                hint = "report it to the index maintainer; nothing was published"
                raise RefusedError(f"{what}: {signature.url} does not have the published checksum", hint=hint)
            yield signature.url, data
