"""Read the directory of public skills that ships with skillpm. Only a search, or a name that is not found, loads it.

What a new source is checked against is the short list of repositories, apart from the skills (ADR 73).
"""

import os
import re
from functools import cache

from skillpm.core.git_syntax import short_commit
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError
from skillpm.fetchers.bundled_paths import PACKAGE_DIR
from skillpm.formats.public_skills import read_repositories

SKILLS_FILE = os.path.join(PACKAGE_DIR, "directory", "skills.txt")
REPOSITORIES_FILE = os.path.join(PACKAGE_DIR, "directory", "repositories.txt")
# Every spelling of the URL of a repository on GitHub.
GITHUB_URL = lazy_pattern(
    r"(?:(?:https?|ssh)://(?:[^/@]*@)?|[^/@]+@)(?:www\.)?github\.com[:/]([^/]+/[^/]+?)(?:\.git)?", re.IGNORECASE
)


def read_directory_file(path: str) -> str:
    """Return the text of a file of the directory."""
    with open(path, encoding="utf-8") as file:
        return file.read()


@cache
def load_repositories() -> dict[str, str]:
    """Return the recorded commit of each repository, by its `owner/name` in lower case."""
    commits = read_repositories(read_directory_file(REPOSITORIES_FILE))
    return {repository.casefold(): commit for repository, commit in commits.items()}


def find_recorded_commit(url: str) -> str:
    """Return the commit that the directory recorded for the repository at a URL; empty if it does not list it."""
    if "github.com" not in url.casefold() or not (match := GITHUB_URL.fullmatch(url)):
        return ""
    return load_repositories().get(match[1].casefold(), "")


def changed_hands_error(url: str, commit: str) -> RefusedError:
    """Return the error for a repository that lacks the commit that the directory recorded."""
    return RefusedError(
        f"{sanitize(url)} may have changed hands: it lacks the commit {short_commit(commit)}, "
        "which the directory of public skills recorded",
        hint="look at the repository; if you trust it, name a branch, tag or commit of it: owner/repo#main@skill",
    )
