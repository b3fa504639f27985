"""`review --approve` and `--import`: record reviews."""

import os
from datetime import UTC, datetime

from skillpm.core.decoder import JsonNode
from skillpm.core.digest import Digest, content_hash
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.trust.reviews import (
    CRITERIA,
    MAX_NOTES,
    MAX_REVIEWER,
    SAFE_TO_RUN,
    Review,
    ReviewImport,
    read_line,
    read_review_file,
)
from skillpm.installer.escaping_links import find_repository_root
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.review.review_files import add_import, add_review, download_reviews
from skillpm.settings import Settings


class Approval(Value):
    """What the user states about the content that they have read."""

    criteria: str = SAFE_TO_RUN
    notes: str = ""
    # By default, the name and address of the user's git configuration.
    reviewer: str = ""


class Recorded(Value):
    """A review that was recorded, and where."""

    review: Review
    file: str


def approve(scope: Scope, context: Context, name: SkillName, digest: Digest, approval: Approval) -> Recorded:
    """Record a review of a content. Raises `UsageError` for an invalid text."""
    reviewer = approval.reviewer or read_git_identity(scope, context.settings)
    if not reviewer:
        raise UsageError(
            "your git configuration has no name", hint="say who you are: --reviewer 'Ada <ada@acme.example>'"
        )
    if not CRITERIA.fullmatch(approval.criteria):
        raise UsageError(f"invalid criteria `{sanitize(approval.criteria, 60)}`", hint=f"use a name like {SAFE_TO_RUN}")
    review = Review(
        skill=name,
        digest=digest,
        criteria=approval.criteria,
        reviewer=_read_option("--reviewer", reviewer, MAX_REVIEWER),
        date=datetime.fromtimestamp(context.settings.now, UTC).date().isoformat(),
        notes=_read_option("--notes", approval.notes, MAX_NOTES) if approval.notes else "",
    )
    return Recorded(review=review, file=add_review(scope, context, review))


class ImportedReviews(Value):
    """A file of reviews that was imported, and where that was recorded."""

    imported: ReviewImport
    reviews: tuple[Review, ...]
    file: str


def import_reviews(scope: Scope, context: Context, url: str) -> ImportedReviews:
    """Download the reviews of another organisation, and pin the file as it is now."""
    if not url.startswith(("https://", "http://")):
        raise UsageError(f"`{sanitize(url, 200)}` is not a web address", hint="use one that begins with https://")
    data = download_reviews(context, url)
    imported = ReviewImport(url=url, digest=Digest(f"sha256:{content_hash(data)}"))
    reviews = read_review_file(data.decode(errors="replace"), url).reviews
    return ImportedReviews(imported=imported, reviews=reviews, file=add_import(scope, context, imported))


def read_git_identity(scope: Scope, settings: Settings) -> str:
    """Return `Name <address>` of the user's git configuration, or of this repository's; empty if there is none."""
    from git import GitConfigParser  # noqa: PLC0415  (few commands need it)
    from git.exc import GitError  # noqa: PLC0415

    xdg = settings.environ.get("XDG_CONFIG_HOME") or os.path.join(settings.home, ".config")
    root = find_repository_root(scope.base)
    files = [os.path.join(xdg, "git", "config"), os.path.join(settings.home, ".gitconfig")]
    files += [os.path.join(root, ".git", "config")] if root else []
    try:
        parser = GitConfigParser([file for file in files if os.path.isfile(file)], read_only=True)
        name, address = (str(parser.get_value("user", key, default="")).strip() for key in ("name", "email"))
    except (GitError, OSError, ValueError):
        return ""
    name = settings.git_environ.get("GIT_AUTHOR_NAME", name)
    address = settings.git_environ.get("GIT_AUTHOR_EMAIL", address)
    return f"{name} <{address}>" if name and address else name


def _read_option(option: str, text: str, limit: int) -> str:
    try:
        return read_line(JsonNode(text, option), limit)
    except DocumentError as error:
        raise UsageError(f"{option}: {error.message}") from error
