"""When commits were made: their committer's date, which is when a version became what it is."""

import re
import time
from collections.abc import Collection, Mapping

from skillpm.fetching.git.repository import LARGEST_COMMIT, Repository

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
