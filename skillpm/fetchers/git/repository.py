"""A remote repository and its cache: resolve refs to commits, fetch objects, read objects."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from threading import Event
from typing import TypeGuard

from skillpm.core.git_syntax import is_commit, is_ref
from skillpm.errors import OfflineError
from skillpm.fetchers.git.program.error_table import ErrorKind
from skillpm.fetchers.git.program.errors import GitFailed, find_missing_object, missing_ref_error, translate_error
from skillpm.fetchers.git.program.objects import GitObject, ObjectReader
from skillpm.fetchers.git.program.process import build_base_environment
from skillpm.fetchers.git.program.repository_cache import add_shallow_commits, write_ref
from skillpm.fetchers.git.transfer.connection import FetchRequest, RemoteRef
from skillpm.fetchers.git.transfer.remote import PARTIAL_CLONE_OPTIONS, GitContext, Remote

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
    """A remote repository and its cache at `path`.

    Used by one thread, while the lock of the cache is held; `lock_fd` is its descriptor.
    """

    def __init__(self, url: str, path: str, context: GitContext, lock_fd: int) -> None:
        self.url = url
        self.path = path
        self.context = context
        self._lock_fd = lock_fd
        settings = context.settings
        self._environment = build_base_environment(settings.environ, settings.git_environ, context.config.file)
        self._remote = Remote(url, path, self._environment, context, lock_fd)
        self._reader: ObjectReader | None = None
        self.content_arrived = Event()  # set by the first fetch, for requests that come second

    @property
    def has_one_connection(self) -> bool:
        """Whether the requests of several threads would wait for each other, or open another connection."""
        return self._remote.can_connect

    @property
    def reader(self) -> ObjectReader:
        """The reader of objects, whose process starts on first use."""
        if self._reader is None:
            self._reader = ObjectReader(self.context.processes, self.path, self._environment, self.context.folder)
        return self._reader

    def open_at(self, path: str) -> "Repository":
        """Return a client of the same server with another cache."""
        return Repository(self.url, path, self.context, self._lock_fd)

    def close(self) -> None:
        """End the reading process; the next use starts a new one, which sees the packs fetched since."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def fetch(
        self, options: Sequence[str], refs: Sequence[str] = (), ids: Iterable[str] = (), stop_on: str = ""
    ) -> None:
        """Fetch refs and objects in one request. `ids` go over stdin: object ids, or refs too many for arguments.

        Git is stopped when it has printed `stop_on` and the server sends many bytes, which raises `GitStopped`.

        Raises `GitFailed` for errors of the server, `CacheDamaged` for errors of the local cache.
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
        self._remote.run(words, data or None, stop_on=stop_on)

    def fetch_ids(
        self,
        ids: Iterable[str],
        *,
        depth: int = 0,
        object_filter: str = "",
        haves: Iterable[str] = (),
        stop_on: str = "",
    ) -> None:
        """Fetch objects by id, with all that belongs to them, less what a depth and a filter leave out.

        Over an open connection, what belongs to `haves` is left out, too.

        Raises as `fetch` does.
        """
        request = FetchRequest(tuple(ids), depth, object_filter, tuple(haves))
        self.close()
        shallow = self._remote.fetch(request, self.content_arrived.set)
        if shallow is None:
            # Without `--refetch`, git would omit what it believes the cache to have, and then leave gaps.
            options = [f"--filter={object_filter}"] if object_filter else ["--no-filter", "--refetch"]
            self.fetch([*([f"--depth={depth}"] if depth else []), *options], ids=request.ids, stop_on=stop_on)
        elif shallow:
            add_shallow_commits(self.path, shallow)

    def fetch_apart(self, ids: Iterable[str], *, depth: int, object_filter: str) -> "Repository | None":
        """Return a client that has only what it fetches of commits and trees, in memory; None if git has to read it.

        Raises as `fetch` does.
        """
        apart = self.open_at(self.path)
        return apart if apart.receive(FetchRequest(tuple(ids), depth, object_filter)) else None

    def receive(self, request: FetchRequest) -> bool:
        """Let the reader read what this request fetches, and nothing else; return False if git has to read it."""
        objects = self._remote.fetch_apart(request)
        if objects is None:
            return False
        from skillpm.fetchers.git.program.small_pack import SmallPackReader  # noqa: PLC0415  (only to restore)

        self._reader = SmallPackReader(objects)
        return True

    def fetch_blobs(self, ids: Iterable[str]) -> None:
        """Fetch file contents by id. Raises as `fetch` does."""
        self.fetch_ids(ids, object_filter="blob:none")

    def find_lost_commits(self, commits: Iterable[str]) -> set[str]:
        """Return which of these commits the server no longer has, whether they are cached or not.

        None if the server serves only the tips of branches and tags, and offline. Raises the translated errors of git.
        """
        remaining, lost = {*commits}, set[str]()
        while remaining and not self.context.settings.offline:
            try:
                self.fetch_ids(sorted(remaining), depth=1, object_filter="tree:0")
                break
            except GitFailed as failed:
                missing = find_missing_object(failed)
                if ErrorKind.UNADVERTISED in failed.kinds:
                    break
                if missing not in remaining:
                    raise translate_error(failed, self.url) from failed
                lost.add(missing)
                remaining.discard(missing)
        return lost

    def fetch_all(self) -> None:
        """Fetch all branches and tags with their complete history: the last resort."""
        refs = ["+refs/heads/*:refs/skillpm-all/heads/*", "+refs/tags/*:refs/skillpm-all/tags/*"]
        self.fetch(["--prune", "--depth=2147483647", "--no-filter", "--refetch"], refs)

    def list_commits(self, ref: str, path: str, limit: int) -> list[str]:
        """Return the commits on a cached ref that changed a folder (`.`: all commits), newest first; no network."""
        words = ["rev-list", f"--max-count={limit}", "--end-of-options", ref, *([] if path == "." else ["--", path])]
        args = [f"--git-dir={self.path}", "--literal-pathspecs", *words]
        return self.context.processes.run(args, self._environment, self.context.folder).decode().split()

    def read_log(self, words: Sequence[str]) -> bytes:
        """Return what a `git log` with these options and arguments prints of the cache; no network."""
        args = [f"--git-dir={self.path}", "--literal-pathspecs", *words]
        return self.context.processes.run(args, self._environment, self.context.folder)

    def run_local(self, words: Sequence[str]) -> bytes:
        """Run git in the cache, without the network; return its output. Raises `GitFailed`."""
        args = [f"--git-dir={self.path}", *words]
        return self.context.processes.run(args, self._environment, self.context.folder)

    def find_remote_refs(self, names: Sequence[str]) -> dict[str, str]:
        """Return which of these branches and tags the server (offline: the cache) has: full name -> object id."""
        if self.context.settings.offline:
            known = self.reader.read(cached_ref(name) for name in names)
            return {name: found.id for name in names if (found := known[cached_ref(name)]) is not None}
        return {name: oid for name, oid in self.list_remote_refs(names).items() if name in names}

    def find_branch_tips(self, refs: Sequence[str]) -> dict[str, str]:
        """Return the commits at which these branches (full names, `HEAD`) are on the server; a missing one is left out.

        Raises the translated errors of git.
        """
        resolved = self.context.resolved_refs
        known = {ref: resolved[self.url, ref][0] for ref in refs if (self.url, ref) in resolved}
        if len(known) == len(refs):
            return known
        listed = self._list_refs(refs)
        if listed is not None:
            return {ref: listed[ref].commit for ref in refs if ref in listed}
        try:
            output = self._remote.run(["ls-remote", "--quiet", "--end-of-options", "origin", *refs])
        except GitFailed as failed:
            raise translate_error(failed, self.url) from failed
        pairs = (line.split("\t", 1) for line in output.decode("utf-8", "replace").splitlines() if "\t" in line)
        tips = {name: oid for oid, name in pairs}
        return {ref: tips[ref] for ref in refs if ref in tips}

    def list_remote_refs(self, names: Sequence[str] = ()) -> dict[str, str]:
        """List the server's branches and tags, all or those with these names: full name -> object id."""
        listed = self._list_refs(names or ("refs/heads/", "refs/tags/"))
        if listed is not None:
            return {name: ref.id for name, ref in listed.items()}
        words = ["ls-remote", "--quiet", "--heads", "--tags", "--end-of-options", "origin", *names]
        try:
            output = self._remote.run(words).decode("utf-8", "replace")
        except GitFailed as failed:
            raise translate_error(failed, self.url) from failed
        pairs = (line.split("\t") for line in output.splitlines() if "\t" in line)
        return {name: oid for oid, name in pairs}

    def list_remote_tags(self) -> dict[str, str]:
        """Return the commits of all tags by name, requested once per command. Raises `OfflineError` if offline."""
        if self.context.settings.offline:
            raise OfflineError([f"the tags of {self.url}"])
        if self.url not in self.context.tags:
            commits = self._list_tag_commits()
            self.context.tags[self.url] = {name: oid for name, oid in commits.items() if is_ref(name)}
        return self.context.tags[self.url]

    def _list_tag_commits(self) -> dict[str, str]:
        listed = self._list_refs(["refs/tags/"])
        if listed is not None:
            return {name.removeprefix("refs/tags/"): ref.commit for name, ref in listed.items()}
        words = ["ls-remote", "--quiet", "--tags", "--end-of-options", "origin"]
        try:
            output = self._remote.run(words).decode("utf-8", "replace")
        except GitFailed as failed:
            raise translate_error(failed, self.url) from failed
        # Git lists an annotated tag twice: first the tag object, then, with `^{}`, the commit it points at.
        pairs = (line.split("\t") for line in output.splitlines() if "\trefs/tags/" in line)
        return {name.removeprefix("refs/tags/").removesuffix("^{}"): oid for oid, name in pairs}

    def _list_refs(self, prefixes: Sequence[str]) -> Mapping[str, RemoteRef] | None:
        """Return the refs whose names begin with one of these prefixes; names are requested once per command."""
        known = self.context.refs.setdefault(self.url, {})
        if all(prefix in known for prefix in prefixes):
            return {name: ref for name in prefixes if (ref := known[name]) is not None}
        try:
            listed = self._remote.list_refs(prefixes)
        except GitFailed as failed:
            raise translate_error(failed, self.url) from failed
        if listed is not None:
            known.update({name: listed.get(name) for name in prefixes if not name.endswith("/")})
        return listed

    def resolve_commits(self, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Fetch refs (full names, `HEAD` or commit ids) without file contents; return ref -> (commit, its tree).

        Each ref is requested once per command; offline, refs resolve to what the cache saw last.
        """
        resolved = self.context.resolved_refs
        known = {ref: commit for ref in refs if (commit := resolved.get((self.url, ref))) is not None}
        # The lock is released between two uses, so another process may have deleted the cache since.
        sizes = self.reader.read_sizes(tree for _, tree in known.values()) if known else {}
        if new := [ref for ref in refs if ref not in known or sizes[known[ref][1]] is None]:
            resolved.update({(self.url, ref): commit for ref, commit in self._fetch_and_resolve(new).items()})
        return {ref: resolved[self.url, ref] for ref in refs}

    def _fetch_and_resolve(self, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
        if not self.context.settings.offline:
            self.fetch_commits(refs)
        # A commit is looked up by its id only: a branch or tag that is named like an id must not replace it.
        names = {ref: ref if is_commit(ref) else cached_ref(ref) for ref in refs}
        peeled = self._peel_tags(names.values())
        commits: dict[str, tuple[str, str]] = {}
        for ref in refs:
            commit = peeled[names[ref]]
            if commit is None:
                if self.context.settings.offline:
                    raise OfflineError([f"{self.url} at {ref}"])
                raise missing_ref_error(ref, self.url)
            commits[ref] = (commit.id, _tree_of(commit))
        return commits

    def _peel_tags(self, names: Iterable[str]) -> dict[str, GitObject | None]:
        """Return the commits that names point at, through annotated tags; None for anything else."""
        objects = self.reader.read(names, max_size=MAX_COMMIT_SIZE)
        for _ in range(MAX_TAG_DEPTH):
            tags = {
                name: item.data[7:].split(b"\n")[0].decode() for name, item in objects.items() if _is_kind(item, "tag")
            }
            if not tags:
                break
            targets = self.reader.read(tags.values(), max_size=MAX_COMMIT_SIZE)
            objects |= {name: targets[oid] for name, oid in tags.items()}
        return {name: item if _is_kind(item, "commit") else None for name, item in objects.items()}

    def fetch_commits(self, refs: Sequence[str]) -> None:
        """Fetch the commits and trees of refs, without file contents; over an open connection, only what is new."""
        names = [ref for ref in refs if not is_commit(ref)]
        listed = self._list_refs(names) if names else {}
        try:
            if listed is None:
                specs = [f"+{ref}:{cached_ref(ref)}" for ref in refs]
                # Thousands of tags exceed the maximum length of a command line.
                options = ["--depth=1", "--filter=blob:none"]
                self.fetch(options, specs[:MAX_REF_ARGUMENTS], specs[MAX_REF_ARGUMENTS:])
                return
            if absent := next((name for name in names if name not in listed), ""):
                raise missing_ref_error(absent, self.url)
            ids = {ref: ref if is_commit(ref) else listed[ref].id for ref in refs}
            if new := self._find_new_ids(ids.values()):
                self.fetch_ids(new, depth=1, object_filter="blob:none")
        except GitFailed as failed:
            # An old server (protocol v0) serves only the tips of branches and tags; a commit may be in their history.
            if ErrorKind.UNADVERTISED not in failed.kinds:
                raise translate_error(failed, self.url) from failed
            self._fetch_history(refs)
            return
        for name in names:
            write_ref(self.path, cached_ref(name), ids[name])

    def _find_new_ids(self, ids: Iterable[str]) -> list[str]:
        """Return the ids of commits and tags whose commit, or its tree, is not cached."""
        commits = self._peel_tags(dict.fromkeys(ids))
        trees = {oid: _tree_of(commit) for oid, commit in commits.items() if commit is not None}
        sizes = self.reader.read_sizes(trees.values())
        return [oid for oid in commits if oid not in trees or sizes[trees[oid]] is None]

    def _fetch_history(self, refs: Sequence[str]) -> None:
        try:
            self.fetch_all()
            if names := [ref for ref in refs if not is_commit(ref)]:
                self.fetch(["--filter=blob:none"], [f"+{name}:{cached_ref(name)}" for name in names])
        except GitFailed as failed:
            raise translate_error(failed, self.url) from failed


def _is_kind(item: GitObject | None, kind: str) -> TypeGuard[GitObject]:
    return item is not None and item.kind == kind


def _tree_of(commit: GitObject) -> str:
    """Return the id of a commit's tree: the first line of the object is `tree <id>`."""
    return commit.data[5 : commit.data.index(b"\n")].decode()


def cached_ref(ref: str) -> str:
    """Return the ref of the cache that records what a ref of the server was last.

    Hashed into one flat folder, since `a` and `a/b`, or `Dev` and `dev`, conflict as files.
    """
    return f"refs/skillpm/{sha256(ref.encode()).hexdigest()[:32]}"
