"""Read documents of a project from a revision of the git repository that it is in."""

import os

from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word
from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetchers.git.program.errors import GitFailed
from skillpm.fetchers.git.program.gitconfig import read_git_config
from skillpm.fetchers.git.program.process import GitProcesses, build_base_environment
from skillpm.fetchers.git.program.repository_cache import GitCache
from skillpm.scope.project import Session

MAX_REVISION_LENGTH = 250
SHALLOW_HINT = "in a shallow clone it may be missing: run `git fetch origin BRANCH`, in CI with `fetch-depth: 0`"
# As in containers, where the folder belongs to the user of the machine.
DUBIOUS = lazy_pattern(r"(?s)dubious ownership.*?'([^']+)'")


class CommittedFiles:
    """The committed files below a folder of a repository. Runs no hook, no filter, and contacts no server.

    Raises `NotFoundError` if the folder is not in a repository that git can read.
    """

    def __init__(self, session: Session, folder: str) -> None:
        self._folder = folder
        settings = session.settings
        self._processes = GitProcesses(session.reporter.log_verbose, session.reporter.log_debug)
        cache = GitCache(session.git_cache_dir())
        cache.prepare()
        config = read_git_config(settings, self._processes, cache.empty_folder)
        self._environment = build_base_environment(settings.environ, settings.git_environ, config.file)
        try:
            self._run("rev-parse", "--show-prefix")
        except GitFailed as failed:
            if owned := DUBIOUS.search(failed.stderr):
                raise NotFoundError(
                    "this repository is owned by another user, so git refuses to read it",
                    where=folder,
                    hint=f"if you trust it: git config --global --add safe.directory {shell_word(owned[1], 300)}",
                ) from failed
            raise NotFoundError(
                f"git reads no repository here: {sanitize(failed.stderr.removeprefix('fatal: '), 300)}",
                where=folder,
                hint="revisions can be compared only in a git repository",
            ) from failed

    def resolve(self, revision: str) -> str:
        """Return the id of a revision's commit. Raises `UsageError` for an invalid one, `NotFoundError` for none."""
        is_word = revision and len(revision) <= MAX_REVISION_LENGTH and not HIDDEN.search(revision)
        if not is_word or revision.startswith("-") or not {*revision}.isdisjoint(" :?*[\\"):
            raise UsageError(
                f"invalid revision `{sanitize(revision, 80)}`", hint="name a branch, a tag or a commit: main, HEAD~1"
            )
        try:
            words = ("--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
            return self._run("rev-parse", *words).decode("ascii", "replace").strip()
        except GitFailed as failed:
            shown = sanitize(revision, 80)
            raise NotFoundError(
                f"unknown revision `{shown}`",
                where=self._folder,
                hint=f"check `git log {shell_word(revision, 80)}`; {SHALLOW_HINT}",
            ) from failed

    def find_merge_base(self, first: str, second: str) -> str:
        """Return the commit at which two commits parted. Raises `NotFoundError` if they have none in common."""
        try:
            return self._run("merge-base", first, second).decode("ascii", "replace").strip()
        except GitFailed as failed:
            raise NotFoundError(
                f"{first[:7]} and {second[:7]} have no common commit here", where=self._folder, hint=SHALLOW_HINT
            ) from failed

    def find_changes(self, name: str, text: str) -> list[str]:
        """Return the last commits that changed a line with this text in a file, the newest first."""
        # A checkout may name programs that show signatures and differences.
        plain = ("--no-show-signature", "--no-textconv", "--no-ext-diff")
        words = ("log", "-n50", "--format=%H", *plain, f"-G{text}", "--", f"./{name}")
        try:
            return self._run(*words).decode("ascii", "replace").split()
        except GitFailed:  # no commit yet
            return []

    def list_blobs(self, commit: str) -> dict[str, str]:
        """Return the ids of the files in the folder at a commit, by path."""
        rows = self._run("ls-tree", "-r", "-z", "--end-of-options", commit, ".").decode("utf-8", "surrogateescape")
        heads = (row.partition("\t") for row in rows.split("\0") if row)
        return {path: head.split(" ")[2] for head, _, path in heads}

    def read(self, commit: str, name: str, *, max_size: int) -> str | None:
        """Return the text of a file in the folder at a commit; None if there is none. Raises `RefusedError`."""
        path = f"{commit}:./{name}"
        try:
            blob = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", path).decode("ascii").strip()
        except GitFailed:
            return None
        try:
            if int(self._run("cat-file", "-s", blob)) > max_size:
                raise RefusedError(f"{name} at {commit[:7]} is larger than {max_size} bytes", where=self._folder)
            return self._run("cat-file", "blob", blob).decode("utf-8", "replace")
        except GitFailed as failed:
            raise NotFoundError(
                f"git cannot read {name} at {commit[:7]}: {sanitize(failed.stderr.removeprefix('fatal: '), 300)}",
                where=self._folder,
                hint=f"in a partial clone, fetch it first: `git show {shell_word(f'{commit[:7]}:./{name}')}`",
            ) from failed

    def _run(self, *words: str) -> bytes:
        return self._processes.run(words, self._environment, os.path.realpath(self._folder))
