"""One remote repository as seen through its cache: which commit a ref means, and which objects are at hand."""

from collections.abc import Iterable, Sequence

from skillpm.documents.git_words import host_of, is_insecure
from skillpm.errors import FetchError, OfflineError
from skillpm.fetching.git.cache import arriving
from skillpm.fetching.git.complaints import is_damage, missing_ref, translated
from skillpm.fetching.git.objects import CacheDamaged, ObjectReader
from skillpm.fetching.git.process import Children, GitFailed, base_environment
from skillpm.fetching.git.user_config import UserConfig, environment_for, token_for
from skillpm.settings import Settings

PARTIAL = ("-c", "remote.origin.promisor=true", "-c", "remote.origin.partialCloneFilter=blob:none")
QUIET = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules")


class Surroundings:
    """What every repository of a run needs to know; `seen` remembers which commit a ref was."""

    def __init__(self, *, settings: Settings, children: Children, config: UserConfig, folder: str) -> None:
        self.settings = settings
        self.children = children
        self.config = config
        self.folder = folder
        self.seen: dict[tuple[str, str], tuple[str, str]] = {}


class Repository:
    """A remote repository and its cache at `path`; used by one thread, while the cache's lock is held."""

    def __init__(self, url: str, path: str, around: Surroundings) -> None:
        self.url = url
        self.path = path
        self.around = around
        settings = around.settings
        self._base = base_environment(settings.environ, settings.git_environ, around.config.file)
        self._reader: ObjectReader | None = None
        self._network: dict[str, str] = {}

    @property
    def reader(self) -> ObjectReader:
        """The process that reads objects, started when first asked for."""
        if self._reader is None:
            words = [f"--git-dir={self.path}"]
            self._reader = ObjectReader(self.around.children, words, self._base, self.around.folder)
        return self._reader

    def close(self) -> None:
        """End the reading process; the next use starts another, which sees what has come since."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def fetch(self, options: Sequence[str], refs: Sequence[str] = (), ids: Iterable[str] = ()) -> None:
        """Ask the server once. `ids` are asked for by object id, in one batch. Raises `GitFailed`."""
        data = "".join(f"{item}\n" for item in ids).encode()
        words = [*PARTIAL, *QUIET, *options, *(["--stdin"] if data else []), "--end-of-options", "origin", *refs]
        self.close()
        self._run(words, data or None)

    def remote_refs(self, names: Sequence[str]) -> dict[str, str]:
        """Ask which of these full ref names the server has (offline: the cache): name -> object id."""
        if self.around.settings.offline:
            known = self.reader.read(kept(name) for name in names)
            return {name: found.id for name in names if (found := known[kept(name)]) is not None}
        try:
            lines = self._run(["ls-remote", "--quiet", "--end-of-options", "origin", *names]).decode("utf-8", "replace")
        except GitFailed as failed:
            raise translated(failed, self.url) from failed
        pairs = (line.split("\t") for line in lines.splitlines() if "\t" in line)
        return {name: oid for oid, name in pairs if name in names}

    def commits(self, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Fetch refs (full names, `HEAD` or commit ids) without file contents; give ref -> (commit, its tree).

        Each is asked for once in a run. Offline, what the cache last saw under these names.
        """
        seen = self.around.seen
        if new := [ref for ref in refs if (self.url, ref) not in seen]:
            seen.update({(self.url, ref): commit for ref, commit in self._asked(new).items()})
        return {ref: seen[self.url, ref] for ref in refs}

    def _asked(self, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
        if not self.around.settings.offline:
            try:
                self.fetch(["--depth=1", "--filter=blob:none"], [f"+{ref}:{kept(ref)}" for ref in refs])
            except GitFailed as failed:
                if is_damage(failed):
                    raise CacheDamaged(failed.said) from failed
                raise translated(failed, self.url) from failed
        found = self.reader.read(f"{kept(ref)}^{{commit}}" for ref in refs)
        commits: dict[str, tuple[str, str]] = {}
        for ref in refs:
            commit = found[f"{kept(ref)}^{{commit}}"]
            if commit is None:
                if self.around.settings.offline:
                    raise OfflineError([f"{self.url} at {ref}"])
                raise missing_ref(ref, self.url)
            commits[ref] = (commit.id, commit.data[5 : commit.data.index(b"\n")].decode())
        return commits

    def _run(self, words: Sequence[str], data: bytes | None = None) -> bytes:
        settings = self.around.settings
        return self.around.children.run(
            [f"--git-dir={self.path}", *words],
            self._for_network(),
            self.around.folder,
            data=data,
            seconds=settings.network_timeout,
            watch=self._watch,
        )

    def _watch(self) -> None:
        limit = self.around.settings.limits.download
        if arriving(self.path) > limit:
            raise FetchError(
                f"{self.url} sends more than {limit} bytes", hint="if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            )

    def _for_network(self) -> dict[str, str]:
        """Give the environment of a call that may ask the network, by exactly the transport the URL means."""
        if not self._network:
            config, settings = self.around.config, self.around.settings
            environment = environment_for(config, self._base, [])
            real = self.url
            if config.rewrites:
                words = [f"--git-dir={self.path}", "ls-remote", "--get-url", "origin"]
                real = self.around.children.run(words, environment, self.around.folder).decode().strip()
            scheme = real.partition("://")[0] if "://" in real else "ssh" if real == self.url else "file"
            if real == self.url and is_insecure(real) and host_of(real) not in settings.insecure_hosts:
                raise FetchError(
                    f"{self.url} is plain http, which anybody on the way can change",
                    hint=f"use https, or allow it with --allow-insecure-host {host_of(real)}",
                )
            extra = [] if config.has_helper or scheme != "https" else token_for(host_of(real), settings.environ)
            environment = environment_for(config, self._base, extra)
            self._network = {**environment, "GIT_ALLOW_PROTOCOL": scheme}
        return self._network


def kept(ref: str) -> str:
    """Give the name under which the cache keeps what a ref last was."""
    return f"refs/skillpm/{ref.removeprefix('refs/')}"

