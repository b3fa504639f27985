"""Look for a folder's content in the history of a repository, where somebody recorded what it was and not when."""

import re
import time
from collections.abc import Collection, Mapping

from skillpm.fetchers.git.errors import translate_error
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository, cached_ref

MAX_COMMITS = 5_000
INFINITE_DEPTH = 2_147_483_647  # git's word for "all of it"


def find_commit_with_tree(repository: Repository, ref: str, path: str, tree: str) -> str:
    """Give the newest commit on a ref (a full name, or `HEAD`) in which a folder has this tree id, or nothing.

    All commits and folders of the ref are fetched for it, no contents of files.
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


COMMITTER_LINE = re.compile(rb"^committer .*> ([0-9]{1,11}) [+-][0-9]{4}$", re.MULTILINE)


def read_commit_times(repository: Repository, commits: Collection[str]) -> Mapping[str, int]:
    """Give when each commit was made, in seconds since 1970; one that is not in the cache, or does not say, is left
    out.
    """
    found = repository.reader.read(sorted(commits), max_size=MAX_COMMIT_SIZE)
    heads = {oid: item.data.partition(b"\n\n")[0] for oid, item in found.items() if item is not None}
    matches = {oid: COMMITTER_LINE.search(head) for oid, head in heads.items()}
    return {oid: int(match[1]) for oid, match in matches.items() if match}


def read_tag_dates(repository: Repository, tags: Collection[str]) -> Mapping[str, str]:
    """Give when the commit of each tag was made (UTC, ISO 8601). Only commits that are new here are asked for."""
    commits = repository.list_remote_tags()
    known = read_commit_times(repository, {commits[tag] for tag in tags})
    if new := sorted(f"refs/tags/{tag}" for tag in tags if commits[tag] not in known):
        repository.fetch_commits(new)
        known = read_commit_times(repository, {commits[tag] for tag in tags})
    # No year has five digits here: as text, dates have to sort as they follow each other.
    moments = {tag: time.gmtime(min(known[commits[tag]], 253402300799)) for tag in tags if commits[tag] in known}
    return {tag: time.strftime("%Y-%m-%dT%H:%M:%SZ", moment) for tag, moment in moments.items()}
