"""`sync --reviewed`: every locked skill must have been reviewed, installed ones, too. Needs no content."""

from skillpm.core.shell import shell_word
from skillpm.fetchers.bundled import is_bundled_content
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.trust.reviews import count_reviews, find_reviews
from skillpm.scope.project import Project
from skillpm.vetting.problems import Problem, refusal
from skillpm.vetting.review_files import load_reviews


def require_reviews(project: Project, lockfile: Lockfile) -> None:
    """Raise `NotTrusted` with every locked skill whose content has no review that applies here."""
    found = load_reviews(project)
    problems = []
    for name, locked in sorted(lockfile.skills.items()):
        digest = locked.digest or ""
        if is_bundled_content(locked) or count_reviews(found.trusted, name, digest):
            continue
        untrusted = find_reviews(found.all, name, digest)
        hint = f"`{project.command('review', name)}` shows what to read, and `--approve` records that you have"
        message = "this content has not been reviewed"
        if not digest:
            message, hint = "a live link has no content that could be reviewed", ""
        elif untrusted:
            message = f"it was reviewed by {untrusted[0].reviewer}, but reviews of this project do not apply here"
            trust = f"skillpm config set audit.trust-project {shell_word(project.scope.base)}"
            hint = f"to trust everyone who can change them: `{trust}`"
        problems.append(Problem(skill=name, kind="review", rule="reviewed", message=message, hint=hint))
    if problems:
        raise refusal(problems)
