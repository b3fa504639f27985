"""One remote repository as seen through its cache: which commit a ref means, and which objects are at hand."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TypeGuard

from skillpm.core.git_syntax import is_commit, is_ref
from skillpm.errors import OfflineError
from skillpm.fetchers.git.environment import build_base_environment
from skillpm.fetchers.git.errors import missing_ref_error, translate_error
from skillpm.fetchers.git.objects import GitObject, ObjectReader
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.remote import GitContext, Remote

PARTIAL_CLONE_OPTIONS = ("-c", "remote.origin.promisor=true", "-c", "remote.origin.partialCloneFilter=blob:none")
MAX_COMMIT_SIZE = 1_000_000
MAX_TAG_DEPTH = 5
MAX_REF_ARGUMENTS = 500
FETCH_COMMAND = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
)


class Repository:
    """A remote repository and its cache at `path`; used by one thread, while the cache's lock is held: `lock` is its
    descriptor.
    """

    def __init__(self, url: str, path: str, context: GitContext, lock_fd: int) -> None:
        self.url = url
        self.path = path
        self.context = context
        settings = context.settings
        self._environment = build_base_environment(settings.environ, settings.git_environ, context.config.file)
        self._remote = Remote(url, path, self._environment, context, lock_fd)
        self._reader: ObjectReader | None = None

    @property
    def reader(self) -> ObjectReader:
        """The process that reads objects, started when first asked for."""
        if self._reader is None:
            words = [f"--git-dir={self.path}"]
            self._reader = ObjectReader(self.context.processes, words, self._environment, self.context.folder)
        return self._reader

    def close(self) -> None:
        """End the reading process; the next use starts another, which sees what has come since."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def fetch(self, options: Sequence[str], refs: Sequence[str] = (), ids: Iterable[str] = ()) -> None:
        """Ask the server once. `ids` are asked for by object id (or are refs, too many to be words), in one batch.

        Raises `GitFailed` for what the server says, `CacheDamaged` for what is wrong here.
        """
        data = "".join(f"{item}\n" for item in ids).encode()
        words = [
            *PARTIAL_CLONE_OPTIONS,
            *FETCH_COMMAND,
            *options,
            *(["--stdin"] if data else []),
            "--end-of-options",
            "origin",
            *refs,
        ]
        self.close()
        self._remote.run(words, data or None)

    def fetch_all(self) -> None:
        """Fetch all branches and tags with all their history: the last resort."""
        refs = ["+refs/heads/*:refs/skillpm-all/heads/*", "+refs/tags/*:refs/skillpm-all/tags/*"]
        self.fetch(["--prune", "--depth=2147483647", "--no-filter", "--refetch"], refs)

    def list_commits(self, ref: str, path: str, limit: int) -> list[str]:
        """Give the commits on a ref of the cache that changed a folder (`.`: all), newest first; no network."""
        words = ["rev-list", f"--max-count={limit}", "--end-of-options", ref, *([] if path == "." else ["--", path])]
        whole = [f"--git-dir={self.path}", "--literal-pathspecs", *words]
        return self.context.processes.run(whole, self._environment, self.context.folder).decode().split()

    def find_remote_refs(self, names: Sequence[str]) -> dict[str, str]:
        """Ask which of these branches and tags the server has (offline: the cache): full name -> object id."""
        if self.context.settings.offline:
            known = self.reader.read(cached_ref(name) for name in names)
            return {name: found.id for name in names if (found := known[cached_ref(name)]) is not None}
        return {name: oid for name, oid in self.list_remote_refs(names).items() if name in names}

    def list_remote_refs(self, names: Sequence[str] = ()) -> dict[str, str]:
        """Ask the server for branches and tags, all of them or those of such names: full name -> object id."""
        words = ["ls-remote", "--quiet", "--heads", "--tags", "--end-of-options", "origin", *names]
        try:
            lines = self._remote.run(words).decode("utf-8", "replace")
        except GitFailed as failed:
            raise translate_error(failed, self.url) from failed
        pairs = (line.split("\t") for line in lines.splitlines() if "\t" in line)
        return {name: oid for oid, name in pairs}

    def list_remote_tags(self) -> dict[str, str]:
        """Ask for all tags, once in a run: name -> commit. Offline they are not known."""
        if self.context.settings.offline:
            raise OfflineError([f"the tags of {self.url}"])
        if self.url not in self.context.tags:
            words = ["ls-remote", "--quiet", "--tags", "--end-of-options", "origin"]
            try:
                lines = self._remote.run(words).decode("utf-8", "replace")
            except GitFailed as failed:
                raise translate_error(failed, self.url) from failed
            # An annotated tag comes twice, first itself and then, marked, the commit that it stands for.
            pairs = (line.split("\t") for line in lines.splitlines() if "\trefs/tags/" in line)
            found = {name.removeprefix("refs/tags/").removesuffix("^{}"): oid for oid, name in pairs}
            self.context.tags[self.url] = {name: oid for name, oid in found.items() if is_ref(name)}
        return self.context.tags[self.url]

    def resolve_commits(self, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Fetch refs (full names, `HEAD` or commit ids) without file contents; give ref -> (commit, its tree).

        Each is asked for once in a run, and again where its trees are gone: between two visits another process may
        take the cache away. Offline, what the cache last saw under these names.
        """
        seen = self.context.resolved_refs
        known = {ref: found for ref in refs if (found := seen.get((self.url, ref))) is not None}
        at_hand = self.reader.read_sizes(tree for _, tree in known.values()) if known else {}
        if new := [ref for ref in refs if ref not in known or at_hand[known[ref][1]] is None]:
            seen.update({(self.url, ref): commit for ref, commit in self._fetch_and_resolve(new).items()})
        return {ref: seen[self.url, ref] for ref in refs}

    def _fetch_and_resolve(self, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
        if not self.context.settings.offline:
            self.fetch_commits(refs)
        # A commit is known by its id alone: no ref of that name, here or there, may stand for it.
        names = {ref: ref if is_commit(ref) else cached_ref(ref) for ref in refs}
        found = self._peel_tags(names.values())
        commits: dict[str, tuple[str, str]] = {}
        for ref in refs:
            commit = found[names[ref]]
            if commit is None:
                if self.context.settings.offline:
                    raise OfflineError([f"{self.url} at {ref}"])
                raise missing_ref_error(ref, self.url)
            commits[ref] = (commit.id, commit.data[5 : commit.data.index(b"\n")].decode())
        return commits

    def _peel_tags(self, names: Iterable[str]) -> dict[str, GitObject | None]:
        """Give the commits that names stand for, through annotated tags; None where one leads to something else."""
        found = self.reader.read(names, max_size=MAX_COMMIT_SIZE)
        for _ in range(MAX_TAG_DEPTH):
            tags = {
                name: item.data[7:].split(b"\n")[0].decode() for name, item in found.items() if _is_kind(item, "tag")
            }
            if not tags:
                break
            targets = self.reader.read(tags.values(), max_size=MAX_COMMIT_SIZE)
            found |= {name: targets[oid] for name, oid in tags.items()}
        return {name: item if _is_kind(item, "commit") else None for name, item in found.items()}

    def fetch_commits(self, refs: Sequence[str]) -> None:
        """Fetch what refs lead to, without the contents of files."""
        specs = [f"+{ref}:{cached_ref(ref)}" for ref in refs]
        try:
            # Thousands of tags are more than a command line holds.
            self.fetch(["--depth=1", "--filter=blob:none"], specs[:MAX_REF_ARGUMENTS], specs[MAX_REF_ARGUMENTS:])
        except GitFailed as failed:
            # An old server (protocol v0) names no commit but the tips; it may be found in the history of one.
            if "unadvertised object" not in failed.stderr:
                raise translate_error(failed, self.url) from failed
            self._fetch_history(refs)

    def _fetch_history(self, refs: Sequence[str]) -> None:
        try:
            self.fetch_all()
            if named := [ref for ref in refs if not is_commit(ref)]:
                self.fetch(["--filter=blob:none"], [f"+{ref}:{cached_ref(ref)}" for ref in named])
        except GitFailed as failed:
            raise translate_error(failed, self.url) from failed


def _is_kind(item: GitObject | None, kind: str) -> TypeGuard[GitObject]:
    return item is not None and item.kind == kind


def cached_ref(ref: str) -> str:
    """Give the name under which the cache keeps what a ref last was.

    One flat folder of hashes: `a` and `a/b`, `Dev` and `dev` must find room side by side on every file system.
    """
    return f"refs/skillpm/{sha256(ref.encode()).hexdigest()[:32]}"
