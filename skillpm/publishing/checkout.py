"""The git checkout that a skill is published from, read with GitPython: what is committed, when, and under which tag.

The only module that imports `git`. Importing it is slow and runs `git version`, so this module is itself imported only
for a skill that is in a checkout (ADR 26).
"""

import os
import posixpath
from collections.abc import Collection, Mapping
from functools import cached_property
from hashlib import sha1
from typing import Literal

from git import GitConfigParser, Repo
from git.exc import GitError, ODBError
from git.objects import Object, Tree

from skillpm.core.file_tree import FileTree
from skillpm.core.git_syntax import normalize_git_url
from skillpm.core.values import Value
from skillpm.core.versions import parse_version
from skillpm.errors import FetchError, UsageError
from skillpm.fetchers.git.history import LOG_COMMAND, LOG_SETTINGS, FolderChange, read_folder_log
from skillpm.fetchers.git.program.gitconfig import read_git_config
from skillpm.fetchers.git.program.process import GIT_SETTINGS, GitProcesses, build_base_environment
from skillpm.fetchers.git.program.repository_cache import GitCache
from skillpm.fetchers.git.tagged_releases import TAG_PATTERN
from skillpm.scope.project import Session

# What is raised for a repository that is damaged, has SHA-256 ids, or is refused by git (`safe.directory`).
READ_ERRORS = (FetchError, GitError, ODBError, ValueError, LookupError, AssertionError, OSError)
MAX_OBJECT_SIZE = 10_000_000  # bytes of a commit or of one folder's list of entries
GIT_TIMEOUT = 60  # seconds
# GitPython starts git with `os.environ`. A hook sets `GIT_DIR`, for one, and git does not check the owner of a
# repository that the environment names.
FOREIGN_REPOSITORY = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY")
NEUTRAL_ENVIRONMENT = {
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
    "GIT_NAMESPACE": "",
}


class CommittedState(Value):
    """What is committed of a skill, and which of its files differ from that."""

    version: str = ""  # of a tag that points at the checked-out commit
    history_version: str = ""  # of the last commit that changed the skill; empty if the history is incomplete
    seconds: int = 0  # of that commit, since 1970; of the checked-out one if the history cannot be read
    commit: str = ""  # that commit; empty if files differ from it
    url: str = ""  # of the repository that others clone; empty if it has none
    changed_files: tuple[str, ...] = ()


class _ConfinedRepo(Repo):
    """A `Repo` that reads no configuration but the repository's own: an `include` in it could name a device."""

    def config_reader(
        self, config_level: Literal["system", "global", "user", "repository"] | None = None
    ) -> GitConfigParser:
        del config_level
        return GitConfigParser(os.path.join(self.common_dir, "config"), read_only=True, merge_includes=False)


class Checkout:
    """A work tree and its checked-out commit; `folders` are the skills to read from it.

    Raises one of `READ_ERRORS` for a repository that cannot be read.
    """

    def __init__(self, session: Session, root: str, folders: Collection[str]) -> None:
        if named := [name for name in FOREIGN_REPOSITORY if name in session.settings.git_environ]:
            raise ValueError(f"{named[0]} is set")
        self._root = root
        self._paths = [self._relative(folder) for folder in folders]
        self._folders: dict[str, Mapping[str, Object]] = {}
        self._repo = _ConfinedRepo(root, expand_vars=False)
        self._confine_git(session)
        self._commit = self._repo.head.commit
        _check_size(self._commit)
        points_at = self._repo.git.for_each_ref(
            "refs/tags", points_at="HEAD", format="%(refname:strip=2)", kill_after_timeout=GIT_TIMEOUT
        )
        self._tags: list[str] = points_at.splitlines()

    def _confine_git(self, session: Session) -> None:
        """Start git as for fetching: no hook, no fsmonitor, no network; of the user's settings `safe.directory`."""
        settings = session.settings
        cache = GitCache(session.git_cache_dir())
        cache.prepare()
        processes = GitProcesses(session.reporter.log_verbose, session.reporter.log_debug)
        config = read_git_config(settings, processes, cache.empty_folder)
        environment = build_base_environment(settings.environ, settings.git_environ, config.file)
        self._repo.git.update_environment(**environment, **NEUTRAL_ENVIRONMENT)
        self._repo.git.set_persistent_git_options(c=[f"{key}={value}" for key, value in GIT_SETTINGS.items()])

    def read_state(self, folder: str, name: str, tree: FileTree) -> CommittedState | None:
        """Return what is committed of a skill, given the files in its folder; None if nothing of it is."""
        path = self._relative(folder)
        prefix = "" if path == "." else path
        if not self._list_folder(prefix):
            return None
        if changed := self._find_changes(prefix, tree):
            return CommittedState(url=self._find_url(), changed_files=tuple(changed))
        change = self._changes.get(path)
        return CommittedState(
            version=self._find_tagged_version(name),
            history_version="" if change is None or self._is_shallow() else change.version,
            seconds=int(self._commit.committed_date) if change is None else change.seconds,
            commit=self._commit.hexsha if change is None else change.commit,
            url=self._find_url(),
        )

    def _relative(self, folder: str) -> str:
        return os.path.relpath(folder, self._root).replace(os.sep, "/")

    @cached_property
    def _changes(self) -> Mapping[str, FolderChange]:
        """When each skill changed: one walk over the history for all of them; none if git does not know."""
        _, *options = LOG_COMMAND
        path = posixpath.commonpath(self._paths) or "."
        git = self._repo.git(c=list(LOG_SETTINGS), literal_pathspecs=True)
        try:
            log = git.log(*options, "HEAD", "--", path, stdout_as_string=False, kill_after_timeout=GIT_TIMEOUT)
        except GitError:
            return {}
        return read_folder_log(log, self._paths) if isinstance(log, bytes) else {}

    def _is_shallow(self) -> bool:
        """Return whether older commits are missing, so that the oldest one seems to have changed everything."""
        return os.path.exists(os.path.join(self._repo.common_dir, "shallow"))

    def _find_url(self) -> str:
        """Return the URL of `origin` without user info, if it is one that others can read."""
        urls = [url for remote in self._repo.remotes if remote.name == "origin" for url in remote.urls]
        try:
            url = normalize_git_url(urls[0]) if urls else ""
        except UsageError:
            return ""
        return url if url.startswith("https://") else ""

    def _find_changes(self, prefix: str, tree: FileTree) -> list[str]:
        # Not by `git status`: that runs the filters which the repository's own configuration names.
        files = [file for file in tree.files if not file.link]
        changed = {file.path for file in files if not self._is_committed(posixpath.join(prefix, file.path), file.data)}
        for parent in {posixpath.dirname(file.path) for file in files}:
            for name in self._list_folder(posixpath.join(prefix, parent).rstrip("/")):
                path = posixpath.join(parent, name)
                if not os.path.lexists(os.path.join(self._root, prefix, path)):
                    changed.add(path)
        return sorted(changed)

    def _is_committed(self, path: str, data: bytes) -> bool:
        entry = self._list_folder(posixpath.dirname(path)).get(posixpath.basename(path))
        return entry is not None and entry.hexsha == _blob_id(data)

    def _list_folder(self, path: str) -> Mapping[str, Object]:
        """Return the entries of a committed folder by name; none if it is not committed, or is not a folder."""
        if path not in self._folders:
            folder: Object | None = self._commit.tree
            if path:
                folder = self._list_folder(posixpath.dirname(path)).get(posixpath.basename(path))
            entries: dict[str, Object] = {}
            if isinstance(folder, Tree):
                _check_size(folder)
                entries = {str(entry.name): entry for entry in folder}
            self._folders[path] = entries
        return self._folders[path]

    def _find_tagged_version(self, skill: str) -> str:
        """Return the highest version that a tag of this commit names; a tag with the skill's name comes first."""
        matches = [match for tag in self._tags if (match := TAG_PATTERN.fullmatch(tag))]
        for owner in (skill, None):
            tagged = [match["version"] for match in matches if match["name"] == owner]
            versions = {version: text for text in tagged if (version := parse_version(text)) is not None}
            if versions:
                return versions[max(versions)]
        return ""


def _blob_id(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _check_size(item: Object) -> None:
    """Look at an object's size before GitPython reads all of it into memory."""
    if item.size > MAX_OBJECT_SIZE:
        raise ValueError(f"object {item.hexsha} has {item.size} bytes")
