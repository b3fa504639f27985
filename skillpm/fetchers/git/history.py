"""Search the history of a repository: for the commit that has a known tree, and for commit dates."""

import re
import time
from collections.abc import Collection, Mapping

from skillpm.core.patterns import lazy_pattern
from skillpm.fetchers.git.errors import GitFailed, translate_error
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository, cached_ref

MAX_COMMITS = 5_000
INFINITE_DEPTH = 2_147_483_647  # git defines this value as "the complete history"


def find_commit_with_tree(repository: Repository, ref: str, path: str, tree: str) -> str:
    """Return the newest commit on a ref (full name or `HEAD`) in which a folder has this tree id, or an empty string.

    Fetches all commits and trees of the ref, but no file contents. Used for lockfiles of other tools that record a
    tree without its commit.
    """
    if repository.context.settings.offline:
        return ""
    try:
        repository.fetch([f"--depth={INFINITE_DEPTH}", "--filter=blob:none"], [f"+{ref}:{cached_ref(ref)}"])
        commits = repository.list_commits(cached_ref(ref), path, MAX_COMMITS)
    except GitFailed as failed:
        raise translate_error(failed, repository.url) from failed
    names = {f"{commit}:{'' if path == '.' else path}": commit for commit in commits}
    ids = repository.reader.read_ids(names)
    return next((commit for name, commit in names.items() if ids[name] == tree), "")


COMMITTER_LINE = lazy_pattern(rb"^committer .*> ([0-9]{1,11}) [+-][0-9]{4}$", re.MULTILINE)


def read_commit_times(repository: Repository, commits: Collection[str]) -> Mapping[str, int]:
    """Return the committer dates in seconds since 1970; commits that are not cached or have none are left out."""
    objects = repository.reader.read(sorted(commits), max_size=MAX_COMMIT_SIZE)
    # Headers end at the first empty line: a commit message may contain a fake `committer` line.
    headers = {oid: item.data.partition(b"\n\n")[0] for oid, item in objects.items() if item is not None}
    matches = {oid: COMMITTER_LINE.search(header) for oid, header in headers.items()}
    return {oid: int(match[1]) for oid, match in matches.items() if match}


def read_tag_dates(repository: Repository, tags: Collection[str]) -> Mapping[str, str]:
    """Return the committer date of each tag's commit (UTC, ISO 8601). Fetches only commits that are not cached."""
    commits = repository.list_remote_tags()
    known = read_commit_times(repository, {commits[tag] for tag in tags})
    if new := sorted(f"refs/tags/{tag}" for tag in tags if commits[tag] not in known):
        repository.fetch_commits(new)
        known = read_commit_times(repository, {commits[tag] for tag in tags})
    # Capped at the end of the year 9999: with five digits, dates would no longer sort as text.
    times = {tag: time.gmtime(min(known[commits[tag]], 253402300799)) for tag in tags if commits[tag] in known}
    return {tag: time.strftime("%Y-%m-%dT%H:%M:%SZ", value) for tag, value in times.items()}
