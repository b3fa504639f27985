"""`review --approve` and `--import`: record reviews."""

from datetime import UTC, datetime

from skillpm.core.digest import Digest, content_hash
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, FetchError, UsageError
from skillpm.fetchers.git.program.errors import GitFailed
from skillpm.fetchers.git.program.process import GitProcesses
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
from skillpm.scope.project import Project
from skillpm.scope.scope import Scope
from skillpm.settings import Settings
from skillpm.vetting.review_files import add_import, add_review, download_reviews


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


def approve(project: Project, name: SkillName, digest: Digest, approval: Approval) -> Recorded:
    """Record a review of a content. Raises `UsageError` for an invalid text."""
    reviewer = approval.reviewer or read_git_identity(project.scope, project.settings)
    if not reviewer:
        raise UsageError(
            "your git configuration has no name", hint="identify yourself with --reviewer 'Ada <ada@acme.example>'"
        )
    if not CRITERIA.fullmatch(approval.criteria):
        raise UsageError(f"invalid criteria `{sanitize(approval.criteria, 60)}`", hint=f"use a name like {SAFE_TO_RUN}")
    review = Review(
        skill=name,
        digest=digest,
        criteria=approval.criteria,
        reviewer=_read_option("--reviewer", reviewer, MAX_REVIEWER),
        date=datetime.fromtimestamp(project.settings.now, UTC).date().isoformat(),
        notes=_read_option("--notes", approval.notes, MAX_NOTES) if approval.notes else "",
    )
    return Recorded(review=review, file=add_review(project, review))


class ImportedReviews(Value):
    """A file of reviews that was imported, and where that was recorded."""

    imported: ReviewImport
    reviews: tuple[Review, ...]
    file: str


def import_reviews(project: Project, url: str) -> ImportedReviews:
    """Download the reviews of another organization, and pin the file as it is now."""
    if not url.startswith(("https://", "http://")):
        raise UsageError(f"`{sanitize(url, 200)}` is not a web address", hint="use one that begins with https://")
    data = download_reviews(project.session, url)
    imported = ReviewImport(url=url, digest=Digest(f"sha256:{content_hash(data)}"))
    reviews = read_review_file(data.decode(errors="replace"), url).reviews
    return ImportedReviews(imported=imported, reviews=reviews, file=add_import(project, imported))


def read_git_identity(scope: Scope, settings: Settings) -> str:
    """Return `Name <address>`, as git would write it into a commit made here; empty if git has none or is missing."""
    author = {key: value for key, value in settings.git_environ.items() if key.startswith("GIT_AUTHOR_")}
    words = ["-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"]
    try:
        output = GitProcesses().run(words, {**settings.environ, **author}, scope.base)
    except (GitFailed, FetchError):
        return ""
    return output.decode("utf-8", "replace").rpartition(">")[0] + ">"  # a time follows


def _read_option(option: str, text: str, limit: int) -> str:
    try:
        return read_line(JsonNode(text, option), limit)
    except DocumentError as error:
        raise UsageError(f"{option}: {error.message}") from error
