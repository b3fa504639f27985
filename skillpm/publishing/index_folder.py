"""Open an index folder for changes, locked."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256

from skillpm.cachedir import PUBLISH_LOCK_DIR, tag_cache_folder
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import NotFoundError
from skillpm.files import is_writable, translate_os_errors
from skillpm.installer.disk.skill_file import find_skill_folders
from skillpm.locks import hold_lock
from skillpm.publishing.index.index_builder import IndexWriter
from skillpm.publishing.index.published_copy import copy_published_index
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
