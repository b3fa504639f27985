"""Requests to a repository's server, within limits, retried if it may help: over one connection, or by git itself."""

import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, TypeVar

from skillpm.cachedir import translate_cache_errors
from skillpm.core.git_syntax import server_of
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import FetchError
from skillpm.events import Reporter
from skillpm.fetchers.common.destinations import REDIRECT_HINT, Destinations
from skillpm.fetchers.common.retry import MAX_ATTEMPTS
from skillpm.fetchers.git.program.cache_check import is_intact
from skillpm.fetchers.git.program.error_table import ErrorKind
from skillpm.fetchers.git.program.errors import GitFailed, GitStopped, parse_http_status
from skillpm.fetchers.git.program.gitconfig import GitConfig
from skillpm.fetchers.git.program.limits import GitLimits
from skillpm.fetchers.git.program.logins import find_login
from skillpm.fetchers.git.program.objects import CacheDamaged, GitObject
from skillpm.fetchers.git.program.process import GitProcesses, open_anonymous_file, open_temporary_file
from skillpm.fetchers.git.program.repository_cache import measure_incoming, remove_leftovers
from skillpm.fetchers.git.transfer.connection import (
    MAX_HEADER_BYTES,
    Connection,
    FetchRequest,
    RemoteRef,
    ResponseHeaders,
    too_many_bytes_error,
)
from skillpm.fetchers.git.transfer.transport import GitTarget, build_network_environment, find_proxy, split_url
from skillpm.settings import Settings

# What git appends to a repository's URL in its first request. As git itself, we follow a redirect that keeps it.
FIRST_REQUEST = "/info/refs?service=git-upload-pack"
MAX_REDIRECTS = 5
# What a server without filters may send before it is stopped: its answer, and all of a small repository.
MAX_UNFILTERED_BYTES = 1_000_000
# What only a server or the network can have caused, whatever the state of the cache.
ANSWERED = r"unable to access|RPC failed; HTTP|remote error:|not our ref|unadvertised|couldn't find remote ref"
MAX_IDLE_CONNECTIONS = 16  # each is a process
# Configured on the command line of a fetch only: see `CONFIG_TEMPLATE`.
PARTIAL_CLONE_OPTIONS = ("-c", "remote.origin.promisor=true", "-c", "remote.origin.partialCloneFilter=blob:none")
Result = TypeVar("Result")


@contextmanager
def capture_headers(url: str, folder: str) -> Iterator[ResponseHeaders | None]:
    """Capture the headers that an HTTP server sends; None for other transports, and on Windows."""
    if os.name != "posix" or not url.startswith(("https:", "http:")):
        yield None
        return
    descriptor = open_anonymous_file(folder)
    try:
        yield ResponseHeaders(descriptor)
    finally:
        os.close(descriptor)


def fetch_task(url: str) -> str:
    """Return the name of the task that fetches from a repository, for `Reporter`."""
    return f"fetching {url}"


class GitContext:
    """What all repositories of a command share.

    `refs` maps a URL to the refs that its server was asked for by name, None for those that it does not have,
    `resolved_refs` maps (URL, ref) to the commit and its tree, `tags` a URL to its tags and their commits, and
    `connections` a URL to the open connection that no request uses now. `unconnectable`: URLs of servers that need
    `git fetch`; `redirects`: those whose redirects were reported.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        processes: GitProcesses,
        config: GitConfig,
        folder: str,
        destinations: Destinations,
        reporter: Reporter,
    ) -> None:
        self.settings = settings
        self.reporter = reporter
        self.destinations = destinations
        self.processes = processes
        self.config = config
        self.folder = folder
        self.refs: dict[str, dict[str, RemoteRef | None]] = {}
        self.resolved_refs: dict[tuple[str, str], tuple[str, str]] = {}
        self.tags: dict[str, dict[str, str]] = {}
        self.connections: dict[str, Connection] = {}
        self.unconnectable: set[str] = set()
        self.redirects: set[str] = set()


class Remote:
    """A client for one server, over the one transport that its URL names.

    Each git that writes to the cache inherits the descriptor of its lock: if skillpm is killed, no other process can
    use the cache before that git has ended, too.
    """

    def __init__(self, url: str, path: str, environment: Mapping[str, str], context: GitContext, lock_fd: int) -> None:
        self.url = url
        self.path = path
        self.context = context
        self._base_environment = environment
        self._lock_fds = [lock_fd] if os.name == "posix" else []
        self._environment: dict[str, str] = {}
        self._headers: ResponseHeaders | None = None
        self._target: GitTarget | None = None
        self._redirect_count = 0
        self._max_bytes = context.settings.limits.download
        # The pack that a connection is receiving, and how many bytes earlier requests received.
        self._pack: IO[bytes] | None = None
        self._received_before = 0
        self._phase = ""  # what git does with a pack that was received
        self._is_apart = False

    @property
    def can_connect(self) -> bool:
        """Whether requests go over an open connection, as far as is known."""
        is_http = self._find_target().url.startswith(("https:", "http:"))
        return os.name == "posix" and is_http and self.url not in self.context.unconnectable

    def run(self, args: Sequence[str], data: bytes | None = None, *, stop_on: str = "") -> bytes:
        """Run a git command that contacts the server; retry if the server is busy or the connection is lost.

        Raises `GitFailed` for errors of the server, `CacheDamaged` for errors of the local cache.
        """

        def run_once(limits: GitLimits) -> bytes:
            headers, context = self._headers, self.context
            environment = {**self._get_environment(), **({} if headers is None else headers.environment)}
            pass_fds = [] if headers is None else [headers.descriptor]
            return context.processes.run(
                [*self._network_options, *args],
                environment,
                context.folder,
                data=data,
                deadline=limits,
                server_url=self.url,
                pass_fds=[*pass_fds, *self._lock_fds],
            )

        with capture_headers(self._find_target().url, self.context.folder) as self._headers:
            return self._retry(run_once, stop_on)

    def list_refs(self, prefixes: Sequence[str]) -> Mapping[str, RemoteRef] | None:
        """Return the refs whose names begin with one of these prefixes; None if this server needs `git ls-remote`.

        Raises as `run` does.
        """
        shown = prefixes[0] if len(prefixes) == 1 else pluralize(len(prefixes), "name")
        return self._ask(lambda connection, limits: connection.list_refs(prefixes, limits), f"ls-refs {shown}")

    def fetch(self, request: FetchRequest, on_arrival: Callable[[], None]) -> Sequence[str] | None:
        """Fetch objects into the cache; return the commits whose parents the server left out.

        None if this server needs `git fetch`. `on_arrival` is called when the connection can serve another request.

        Raises as `run` does.
        """

        def index(pack: IO[bytes], limits: GitLimits) -> None:
            on_arrival()
            pack.seek(0)
            self._index_pack(pack, limits)

        return self._receive(request, index)

    def fetch_apart(self, request: FetchRequest) -> Mapping[str, GitObject] | None:
        """Fetch a few commits and trees into memory only: the cache may be in use by another thread.

        None if this server needs `git fetch`, and for a pack that only git can read. Raises as `run` does.
        """
        found: list[dict[str, GitObject] | None] = []

        def read(pack: IO[bytes], _: GitLimits) -> None:
            from skillpm.fetchers.git.program.small_pack import read_small_pack  # noqa: PLC0415  (only to restore)

            found.append(read_small_pack(pack))

        self._is_apart = True
        return found[-1] if self._receive(request, read) is not None else None

    def _receive(self, request: FetchRequest, use: Callable[[IO[bytes], GitLimits], None]) -> Sequence[str] | None:
        """Receive a pack, and use it; return the commits whose parents the server left out."""

        def receive(connection: Connection, limits: GitLimits) -> Sequence[str]:
            pack.seek(0)
            pack.truncate()
            self._pack, self._phase = pack, ""
            return connection.fetch(request, pack, limits)

        def use_received(limits: GitLimits) -> None:
            self._received_before += pack.tell()
            self._pack, self._phase = None, "checking"
            use(pack, limits)

        with translate_cache_errors("write to the git cache", self.path), open_temporary_file(self.path) as pack:
            try:
                return self._ask(receive, str(request), then=use_received)
            finally:
                self._pack, self._phase = None, ""

    def _index_pack(self, pack: IO[bytes], limits: GitLimits) -> None:
        """Add a pack to the cache, every object checked, as `git fetch` does in a partial clone."""
        words = ["index-pack", "--stdin", "--fsck-objects", "--promisor"]
        args = [*PARTIAL_CLONE_OPTIONS, f"--git-dir={self.path}", *words]
        try:
            self.context.processes.run(
                args, self._base_environment, self.context.folder, data=pack, deadline=limits, pass_fds=self._lock_fds
            )
        except GitFailed as failed:
            if failed.stderr:
                raise
            # Killed by a signal, it could not print why: the words of `git fetch` for that.
            raise GitFailed("fatal: fetch-pack: invalid index-pack output") from failed

    def _ask(
        self,
        request: Callable[[Connection, GitLimits], Result],
        description: str,
        then: Callable[[GitLimits], None] = lambda _: None,
    ) -> Result | None:
        """Send a request over the open connection; return None if this server needs other means.

        `then` uses the response, and fails as a request does.
        """
        context = self.context
        if not self.can_connect:
            return None

        def ask_once(limits: GitLimits) -> Result | None:
            connection = context.connections.pop(self.url, None) or self._start_helper()
            self._headers = connection.headers
            try:
                if not (connection.features or connection.open(limits)):
                    connection.close()
                    context.unconnectable.add(self.url)
                    return None
                result = request(connection, limits)
            except BaseException:
                failed.callback(connection.close)  # when `_retry` has read the headers of the response
                raise
            if len(context.connections) < MAX_IDLE_CONNECTIONS:
                context.connections[self.url] = connection
            else:
                connection.close()
            then(limits)
            return result

        began = time.monotonic()
        with ExitStack() as failed:
            try:
                return self._retry(ask_once)
            finally:
                took = (time.monotonic() - began) * 1000
                context.processes.note(f"git {description} {self.url} {took:.0f} ms")

    def _start_helper(self) -> Connection:
        scheme = self._find_target().url.partition(":")[0]
        return Connection(
            self.context.processes,
            [*self._network_options, f"remote-{scheme}", "origin"],
            self._get_environment(),
            self.context.folder,
            self._max_bytes,
        )

    @property
    def _network_options(self) -> Sequence[str]:
        # In whole seconds; 0 would disable the timeout.
        idle_seconds = max(1, math.ceil(self.context.settings.idle_timeout))
        return ["-c", f"http.lowSpeedTime={idle_seconds}", f"--git-dir={self.path}"]

    def _retry(self, attempt_once: Callable[[GitLimits], Result], stop_on: str = "") -> Result:
        try:
            result = self._retry_request(attempt_once, stop_on)
        except GitFailed as failed:
            url, config, settings = self._find_target().url, self.context.config, self.context.settings
            login = find_login(url, config, settings)
            failed.token_variable, failed.login_hint = login.variable, login.hint
            failed.proxy = find_proxy(url, config, settings.environ)
            raise
        self._report_redirect()
        return result

    def _retry_request(self, attempt_once: Callable[[GitLimits], Result], stop_on: str) -> Result:
        context, settings = self.context, self.context.settings
        limits = GitLimits(
            self.url,
            settings.network_timeout,
            self._max_bytes,
            self._check_progress,
            stop_on,
            lambda: measure_incoming(self.path) > MAX_UNFILTERED_BYTES,
        )
        attempt = 1
        while True:
            try:
                return attempt_once(limits)
            except GitStopped:
                raise
            except GitFailed as failed:
                # The kernel kills git at the file size limit; that is the reason to report, not git's last words.
                self._check_progress()
                kinds = failed.kinds
                # The cache may also have been deleted under a running git, by `cache clean` or a cleaner of /tmp.
                if ErrorKind.CACHE_DAMAGED in kinds or not os.path.isdir(self.path):
                    raise CacheDamaged(failed.stderr) from failed
                if ErrorKind.REDIRECTED in kinds and (location := self._take_header(b"location")):
                    self._follow_redirect(location)
                    continue
                if attempt == MAX_ATTEMPTS or ErrorKind.TRANSIENT not in kinds:
                    if not (re.search(ANSWERED, failed.stderr) or self._is_cache_intact()):
                        raise CacheDamaged(failed.stderr) from failed
                    raise
                limits.pause(
                    attempt,
                    context.processes.stop_event,
                    status=parse_http_status(failed.stderr) or 0,
                    retry_after=self._take_header(b"retry-after"),
                )
                attempt += 1
                # The part of a pack that arrived is useless, but would count as incoming data of the next attempt.
                if not self._is_apart:
                    remove_leftovers(self.path)

    def _is_cache_intact(self) -> bool:
        context = self.context
        seconds = context.settings.network_timeout
        return is_intact(self.path, self.url, context.processes, self._base_environment, context.folder, seconds)

    def _get_environment(self) -> Mapping[str, str]:
        if not self._environment:
            context = self.context
            self._environment = build_network_environment(
                self.url,
                self._find_target(),
                self._base_environment,
                context.config,
                context.settings,
                context.destinations,
            )
        return self._environment

    def _take_header(self, name: bytes) -> str:
        return "" if self._headers is None else self._headers.take(name)

    def _find_target(self) -> GitTarget:
        if self._target is None:
            self._target = GitTarget(url=self.context.config.rewrite_url(self.url))
        return self._target

    def _follow_redirect(self, location: str) -> None:
        """Make the target of a redirect that of all further requests; its address is checked before the next one.

        Git could follow redirects itself, but to any address.
        """
        from skillpm.fetchers.http.redirects import resolve_redirect  # noqa: PLC0415  (imports httpx; few redirect)

        self._redirect_count += 1
        if self._redirect_count > MAX_REDIRECTS:
            raise FetchError(f"too many redirects fetching {self.url} (limit {MAX_REDIRECTS})", hint=REDIRECT_HINT)
        old = split_url(self.url, self._find_target().url)
        login, at, host = old.netloc.rpartition("@")
        from_url = old._replace(netloc=host).geturl().rstrip("/")
        to_url = resolve_redirect(from_url + FIRST_REQUEST, location)
        if not to_url.endswith(FIRST_REQUEST):
            raise FetchError(
                f"{self.url} redirects to {sanitize(to_url)}, which is not the address of a git repository (a login?)",
                hint="check that `git clone` accepts this URL",
            )
        new = split_url(self.url, to_url.removesuffix(FIRST_REQUEST))
        # As git does, send the login to the same server only.
        is_same_server = (new.scheme, server_of(to_url)) == (old.scheme, server_of(from_url))
        new = new._replace(netloc=f"{login}{at}{new.netloc}") if is_same_server else new
        self._target, self._environment = GitTarget(url=new.geturl(), from_url=from_url), {}

    def _report_redirect(self) -> None:
        """Warn once that a repository was found at another address, as one that was renamed is."""
        target, original = self._find_target(), self.context.config.rewrite_url(self.url)
        old, new = (re.sub("//[^/]*@", "//", url).rstrip("/").removesuffix(".git") for url in (original, target.url))
        if target.from_url and old.lower() != new.lower() and self.url not in self.context.redirects:
            self.context.redirects.add(self.url)
            self.context.reporter.warn(f"{self.url} redirects to {sanitize(new)}; if it was renamed, use that address")

    def _check_progress(self) -> None:
        header_bytes = 0 if self._headers is None else self._headers.size
        incoming = measure_incoming(self.path)
        if incoming >= self._max_bytes or header_bytes > MAX_HEADER_BYTES:
            raise too_many_bytes_error(self.url, self._max_bytes)
        arrived = incoming if self._pack is None else self._pack.tell()
        phase = self._phase or ("receiving" if arrived else "waiting for the server")
        # What `index-pack` reads was received before.
        received = self._received_before + (0 if self._phase else arrived)
        self.context.reporter.update_task(fetch_task(self.url), phase, received)
