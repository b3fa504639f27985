"""Look for a folder's content in the history of a repository, where somebody recorded what it was and not when."""

import re
import time
from collections.abc import Collection, Mapping

from skillpm.fetchers.git.errors import translated
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.repository import LARGEST_COMMIT, Repository, kept

MOST_COMMITS = 5_000
WHOLE = 2_147_483_647  # git's word for "all of it"


def commit_with_tree(repository: Repository, ref: str, path: str, tree: str) -> str:
    """Give the newest commit on a ref (a full name, or `HEAD`) in which a folder has this tree id, or nothing.

    All commits and folders of the ref are fetched for it, no contents of files.
    """
    if repository.around.settings.offline:
        return ""
    try:
        repository.fetch([f"--depth={WHOLE}", "--filter=blob:none"], [f"+{ref}:{kept(ref)}"])
        commits = repository.touching(kept(ref), path, MOST_COMMITS)
    except GitFailed as failed:
        raise translated(failed, repository.url) from failed
    names = {f"{commit}:{'' if path == '.' else path}": commit for commit in commits}
    ids = repository.reader.ids(names)
    return next((commit for name, commit in names.items() if ids[name] == tree), "")


COMMITTED = re.compile(rb"^committer .*> ([0-9]{1,11}) [+-][0-9]{4}$", re.MULTILINE)


def seconds_of(repository: Repository, commits: Collection[str]) -> Mapping[str, int]:
    """Give when each commit was made, in seconds since 1970; one that is not in the cache, or does not say, is left
    out.
    """
    found = repository.reader.read(sorted(commits), largest=LARGEST_COMMIT)
    heads = {oid: item.data.partition(b"\n\n")[0] for oid, item in found.items() if item is not None}
    matches = {oid: COMMITTED.search(head) for oid, head in heads.items()}
    return {oid: int(match[1]) for oid, match in matches.items() if match}


def dates_of(repository: Repository, tags: Collection[str]) -> Mapping[str, str]:
    """Give when the commit of each tag was made (UTC, ISO 8601). Only commits that are new here are asked for."""
    commits = repository.remote_tags()
    known = seconds_of(repository, {commits[tag] for tag in tags})
    if new := sorted(f"refs/tags/{tag}" for tag in tags if commits[tag] not in known):
        repository.fetch_commits(new)
        known = seconds_of(repository, {commits[tag] for tag in tags})
    # No year has five digits here: as text, dates have to sort as they follow each other.
    moments = {tag: time.gmtime(min(known[commits[tag]], 253402300799)) for tag in tags if commits[tag] in known}
    return {tag: time.strftime("%Y-%m-%dT%H:%M:%SZ", moment) for tag, moment in moments.items()}
