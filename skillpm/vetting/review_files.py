"""The reviews that apply in a scope: of the user, of the project if it is trusted, and imported ones."""

import os
from collections.abc import Callable

from skillpm.cachedir import write_cache_file
from skillpm.core.digest import content_hash, shorten_distinct_digests
from skillpm.core.names import REVIEWS_FILE
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentChanged, OfflineError, RefusedError
from skillpm.files import read_regular_file, read_text, translate_os_errors, write_document
from skillpm.formats.trust.reviews import (
    Review,
    ReviewFile,
    ReviewImport,
    read_review_file,
    write_review_file,
)
from skillpm.scope.audit_settings import load_audit_settings, trusts_project
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import retry_if_changed
from skillpm.scope.scope import Scope

MAX_SIZE = 5_000_000


class ScopeReviews(Value):
    """All reviews that are known in a scope, by where they come from."""

    own: ReviewFile = ReviewFile()
    project: ReviewFile = ReviewFile()
    imported: tuple[Review, ...] = ()
    # Whether those of the project apply on this machine.
    is_project_trusted: bool = False

    @property
    def trusted(self) -> tuple[Review, ...]:
        """The reviews that apply."""
        return (*self.own.reviews, *(self.project.reviews if self.is_project_trusted else ()), *self.imported)

    @property
    def all(self) -> tuple[Review, ...]:
        """All reviews, including those of an untrusted project, which are only shown."""
        return tuple(dict.fromkeys((*self.own.reviews, *self.project.reviews, *self.imported)))


def reviews_path(scope: Scope) -> str:
    """Return the path of a scope's file of reviews, beside its lockfile."""
    return os.path.join(scope.base, REVIEWS_FILE)


def load_reviews(project: Project, *, with_imports: bool = True) -> ScopeReviews:
    """Read all reviews of a scope. Imports are fetched once; those of a project only if it is trusted.

    Raises `DocumentError` for a file that cannot be read, `RefusedError` for an import that is not the pinned file.
    """
    settings = project.settings
    own = _read_file(os.path.join(settings.config_dir, REVIEWS_FILE))
    committed = own if project.scope.kind == "user" else _read_file(reviews_path(project.scope))
    is_trusted = trusts_project(load_audit_settings(project.scope, settings), project.scope, settings)
    imports = (*own.imports, *(committed.imports if is_trusted else ())) if with_imports else ()
    imported = [
        review
        for each in dict.fromkeys(imports)
        for review in read_review_file(fetch_import(project.session, each), each.url).reviews
    ]
    return ScopeReviews(own=own, project=committed, imported=tuple(imported), is_project_trusted=is_trusted)


def _read_file(path: str) -> ReviewFile:
    text = read_text(path)
    return ReviewFile() if text is None else read_review_file(text, path)


def fetch_import(session: Session, imported: ReviewImport) -> str:
    """Return the text of an imported file, from the cache if it was fetched before."""
    path = os.path.join(session.settings.cache_dir, "indexes", content_hash(f"reviews {imported.digest}".encode()))
    try:
        data = read_regular_file(path, MAX_SIZE)
    except OSError:
        data = b""
    if f"sha256:{content_hash(data)}" != imported.digest:
        if session.settings.offline:
            raise OfflineError([f"{sanitize(imported.url)} (imported reviews)"])
        data = download_reviews(session, imported.url)
        actual = f"sha256:{content_hash(data)}"
        if actual != imported.digest:
            expected, got = shorten_distinct_digests(imported.digest, actual)
            url = sanitize(imported.url)
            raise RefusedError(
                f"the reviews at {url} are not those that were imported: expected {expected}, got {got}",
                hint=f"to import what is there now, run `skillpm review --import {shell_word(imported.url)}`",
            )
        write_cache_file(path, data)
    return data.decode(errors="replace")


def download_reviews(session: Session, url: str) -> bytes:
    """Download a file of reviews from an address that the user, or a project that they trust, names."""
    from skillpm.fetchers.common.destinations import Destinations  # noqa: PLC0415  (imports httpx)
    from skillpm.fetchers.http.client import HttpClient  # noqa: PLC0415

    destinations = Destinations()
    destinations.name(url)
    return HttpClient(session.settings, session.reporter, destinations).get(url, limit=MAX_SIZE).body


def add_review(project: Project, review: Review) -> str:
    """Record a review in the file of a scope, and return its path."""
    return _rewrite(project, lambda document: document.with_review(review))


def add_import(project: Project, imported: ReviewImport) -> str:
    """Record an import in the file of a scope, and return its path."""
    return _rewrite(project, lambda document: document.with_import(imported))


def _rewrite(project: Project, edit: Callable[[ReviewFile], ReviewFile]) -> str:
    path = reviews_path(project.scope)

    def write() -> None:
        text = read_text(path)
        new = write_review_file(edit(ReviewFile() if text is None else read_review_file(text, path)))

        def check_unchanged(path: str) -> None:
            if read_text(path) != text:
                raise DocumentChanged(path)

        if new != text:
            with translate_os_errors("write the reviews", path):
                write_document(path, new.encode(), fsync=project.settings.fsync, before_rename=check_unchanged)

    retry_if_changed(write)
    return path
