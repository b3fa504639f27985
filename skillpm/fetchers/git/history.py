"""Search the history of a repository: for the commit with a known tree, commit dates, and when folders changed.

With `exclude-newer`, a branch stands at the newest commit that is old enough (ADR 36).
"""

import os
import posixpath
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress

from skillpm.core.git_syntax import abbreviate_url, is_commit
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import OfflineError, RefusedError
from skillpm.fetchers.common.gate import Cooldown
from skillpm.fetchers.git.program.errors import GitFailed, GitStopped, translate_error
from skillpm.fetchers.git.program.repository_cache import create_repository
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository, cached_ref
from skillpm.files import remove_tree, translate_os_errors

# What git prints about a server that ignores a filter and sends everything.
NO_FILTER = "filtering not recognized by server"
MAX_COMMITS = 5_000
END_OF_TIME = 253402300799  # the end of the year 9999, in seconds since 1970
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


MAX_LOGGED_COMMITS = 50_000
# A repository's own configuration must neither change the format nor start a program or read a device.
LOG_SETTINGS = ("log.showSignature=false", "log.follow=false", "log.showRoot=true", "diff.orderFile=/dev/null")
LOG_COMMAND = (
    "log", f"--max-count={MAX_LOGGED_COMMITS}", "--first-parent", "--diff-merges=first-parent", "--no-renames",
    "--name-only", "-z", "--format=%x01%ct %H",
)  # fmt: skip
HEADER = lazy_pattern(rb"\x01(-?[0-9]{1,19}) ([0-9a-f]{40,64})")


class FolderChange(Value):
    """The last commit that changed a folder, and the version that follows from it.

    The version is the day (UTC) of that commit, `2026.11.25`; the second change of a day is `2026.11.25.1` (ADR 43).
    """

    commit: str
    seconds: int
    version: str


def read_folder_changes(
    repository: Repository, ref: str, commit: str, paths: Collection[str]
) -> dict[str, FolderChange]:
    """Return the last change of each of these folders at a commit, to which a ref points.

    Fetches all commits and trees of the ref, but no file contents.
    """
    if repository.context.settings.offline:
        raise OfflineError([f"{repository.url} with its history"])
    try:
        options = [f"--depth={INFINITE_DEPTH}", "--filter=blob:none"]
        if is_commit(ref):
            repository.fetch(options, ids=[ref])
        else:
            repository.fetch(options, [f"+{ref}:{cached_ref(ref)}"])
        settings = [word for setting in LOG_SETTINGS for word in ("-c", setting)]
        log = repository.read_log([*settings, *LOG_COMMAND, commit, "--", posixpath.commonpath(paths) or "."])
    except GitFailed as failed:
        raise translate_error(failed, repository.url) from failed
    return read_folder_log(log, paths)


def read_folder_log(log: bytes, folders: Collection[str]) -> dict[str, FolderChange]:
    """Return the last change of each folder (`.` for the root), given what git prints for `LOG_COMMAND`."""
    commits: dict[str, list[tuple[str, int]]] = {}
    wanted = {b"" if folder == "." else folder.encode(errors="surrogateescape"): folder for folder in folders}
    for commit, seconds, paths in _read_commits(log):
        touched = {parent for path in paths for parent in _parents(path)} | ({b""} if paths else set())
        for folder in touched & wanted.keys():
            commits.setdefault(wanted[folder], []).append((commit, seconds))
    return {
        folder: FolderChange(
            commit=items[0][0], seconds=items[0][1], version=_find_version([seconds for _, seconds in items])
        )
        for folder, items in commits.items()
    }


def _read_commits(log: bytes) -> Iterator[tuple[str, int, list[bytes]]]:
    commit, seconds, paths = "", 0, list[bytes]()
    for part in log.split(b"\0"):
        if header := HEADER.fullmatch(part):
            if commit:
                yield commit, seconds, paths
            commit, seconds, paths = header[2].decode(), min(max(int(header[1]), 0), END_OF_TIME), []
        elif part:
            paths.append(part.removeprefix(b"\n"))  # the first one of a commit
    if commit:
        yield commit, seconds, paths


def _parents(path: bytes) -> Iterator[bytes]:
    while slash := path.rpartition(b"/")[0]:
        yield slash
        path = slash


def _find_version(times: Sequence[int]) -> str:
    """Return the version of the newest of some commits, given their times, newest first.

    The day never decreases, even if a wrong clock or a rebase changed the dates: newer content has the higher version.
    """
    day, count = (0, 0, 0), 0
    for seconds in reversed(times):
        own = time.gmtime(seconds)[:3]
        count = count + 1 if own <= day else 0
        day = max(day, own)
    return ".".join(str(number) for number in (*day, *([count] if count else [])))


PARENTS = lazy_pattern(rb"^parent ([0-9a-f]{40,64})$", re.MULTILINE)
PARENT_LINE = lazy_pattern(rb"tree [0-9a-f]+\nparent ([0-9a-f]{40,64})\n")
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
    return {tag: format_time(known[commits[tag]]) for tag in tags if commits[tag] in known}


def format_time(seconds: int) -> str:
    """Return a time in seconds since 1970 as text that sorts (UTC, ISO 8601)."""
    # Capped: with five digits in the year, dates would no longer sort as text.
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(min(seconds, END_OF_TIME)))


def read_first_parent(repository: Repository, commit: str) -> str:
    """Return the id of the first parent of a cached commit; empty if it has none."""
    item = repository.reader.read([commit], max_size=MAX_COMMIT_SIZE)[commit]
    match = None if item is None else PARENT_LINE.match(item.data)
    return "" if match is None else match[1].decode()


def is_on_branch(repository: Repository, commit: str, tip: str) -> bool | None:
    """Return whether a commit is the tip of a branch or one of its ancestors; None if the server supports no filters.

    The server is asked for the commits of the branch that a client with this commit lacks, without files: for an
    ancestor, one of them has it as a parent. A commit of a fork, which forges serve as well, is not a parent of any.

    Raises the translated errors of git.
    """
    if commit == tip:
        return True
    with open_temporary(repository) as temporary:
        try:
            temporary.fetch_ids([tip], object_filter="tree:0", haves=[commit], stop_on=NO_FILTER)
        except GitStopped:
            return None
        except GitFailed as failed:
            raise translate_error(failed, repository.url) from failed
        seen, pending = set[str](), {tip}
        while pending:
            seen |= pending
            objects = temporary.reader.read(sorted(pending), max_size=MAX_COMMIT_SIZE).values()
            # Headers end at the first empty line: a commit message may contain a fake `parent` line.
            headers = [
                item.data.partition(b"\n\n")[0] for item in objects if item is not None and item.kind == "commit"
            ]
            parents = {parent.decode() for header in headers for parent in PARENTS.findall(header)}
            if commit in parents:
                return True
            pending = parents - seen
    return False


def exclude_newer_commits(
    repository: Repository, commits: Mapping[str, tuple[str, str]], cooldown: Cooldown
) -> dict[str, tuple[str, str]]:
    """Return the commits and trees of refs, for branches those of the newest commit that is old enough.

    Raises `RefusedError` for a branch without such a commit.
    """
    branches = [ref for ref in commits if ref == "HEAD" or ref.startswith("refs/heads/")]
    if not branches or not cooldown.cutoff.moment:
        return dict(commits)
    times = _read_times(repository, [commits[ref][0] for ref in branches])
    allowed = dict(commits)
    for ref in branches:
        newest = commits[ref][0]
        if _is_allowed(repository, newest, times, cooldown):
            continue
        key = (repository.url, ref)
        if key not in cooldown.allowed:
            commit = _find_allowed(repository, ref, newest, cooldown)
            cooldown.allowed[key] = repository.resolve_commits([commit])[commit]
            cooldown.excluded[key] = newest
        allowed[ref] = cooldown.allowed[key]
    return allowed


def _read_times(repository: Repository, commits: Collection[str]) -> dict[str, str]:
    """Return the committer dates (UTC, ISO 8601)."""
    return {commit: format_time(seconds) for commit, seconds in read_commit_times(repository, commits).items()}


def _is_allowed(repository: Repository, commit: str, times: Mapping[str, str], cooldown: Cooldown) -> bool:
    is_locked = commit in cooldown.locked.get(repository.url, ())
    return is_locked or not cooldown.cutoff.excludes(times.get(commit, ""))


def _find_allowed(repository: Repository, ref: str, newest: str, cooldown: Cooldown) -> str:
    """Return the newest allowed commit among the first parents of a branch: what the branch pointed at, in turn."""
    if repository.context.settings.offline:
        raise OfflineError([f"{repository.url} before its newest commit"])
    with open_temporary(repository) as history:
        try:
            # Commits only, and only those that are too new: the parent of the oldest one is the first that is not.
            since = f"--shallow-since={cooldown.cutoff.moment}"
            history.fetch([since, "--filter=tree:0"], [f"+{newest}:{cached_ref(ref)}"])
        except GitFailed as failed:
            raise translate_error(failed, repository.url) from failed
        commit = newest
        for _ in range(MAX_COMMITS):
            times = _read_times(history, [commit])
            if commit not in times or _is_allowed(repository, commit, times, cooldown):
                return commit
            commit = read_first_parent(history, commit)
            if not commit:
                break
    branch = "the default branch" if ref == "HEAD" else f"branch {sanitize(ref.removeprefix('refs/heads/'), 80)}"
    raise RefusedError(
        f"{abbreviate_url(repository.url)}: all commits on {branch} are {cooldown.cutoff.description} (exclude-newer)",
        hint="if you trust the newest one, allow it with `--exclude-newer '0 days'`",
    )


@contextmanager
def open_temporary(repository: Repository) -> Iterator[Repository]:
    """Open an empty cache inside that of a repository, whose lock protects both.

    Git takes a commit in a cache as the promise that its trees are there, too; here only some of them are.
    """
    path = os.path.join(repository.path, "proof")
    with translate_os_errors("write to the git cache", path):
        remove_tree(path)
        create_repository(path, repository.url)
    try:
        with closing(repository.open_at(path)) as second:
            yield second
    finally:
        with suppress(OSError):  # the next use removes it
            remove_tree(path)
