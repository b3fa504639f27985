"""The connection to a repository's server: one git process per request, within limits, retried if it may help."""

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from skillpm.core.git_syntax import server_of
from skillpm.core.text import sanitize
from skillpm.errors import FetchError
from skillpm.fetchers.destinations import REDIRECT_HINT, Destinations
from skillpm.fetchers.git.error_table import ErrorKind
from skillpm.fetchers.git.errors import GitFailed, parse_http_status
from skillpm.fetchers.git.gitconfig import GitConfig
from skillpm.fetchers.git.limits import GitLimits
from skillpm.fetchers.git.objects import CacheDamaged
from skillpm.fetchers.git.process import GitProcesses, open_anonymous_file
from skillpm.fetchers.git.repository_cache import measure_incoming, remove_leftovers
from skillpm.fetchers.git.transport import GitTarget, build_network_environment, split_url
from skillpm.fetchers.retry import MAX_ATTEMPTS
from skillpm.settings import Settings

MAX_HEADER_BYTES = 1_000_000
STATUS_OR_HEADER = rb"<= Recv header: (HTTP/[0-9.]+ [0-9]{3}\b|%b: *([^\r\n]+))"
# What git appends to a repository's URL in its first request. As git itself, we follow a redirect that keeps it.
FIRST_REQUEST = "/info/refs?service=git-upload-pack"
MAX_REDIRECTS = 5


class ResponseHeaders:
    """HTTP headers that a git process receives.

    Git prints the status of a failed request, but never `Retry-After` or `Location`; only its curl trace has these.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.environment = {"GIT_TRACE_CURL": f"/dev/fd/{descriptor}", "GIT_TRACE_CURL_NO_DATA": "1"}

    @property
    def size(self) -> int:
        """The bytes of the trace so far."""
        return os.fstat(self.descriptor).st_size

    def take(self, name: bytes) -> str:
        """Return a header of the last response, or an empty string, and clear the trace."""
        trace = os.pread(self.descriptor, MAX_HEADER_BYTES, 0)
        os.ftruncate(self.descriptor, 0)
        value = b""
        for match in re.finditer(STATUS_OR_HEADER % name, trace, re.IGNORECASE):
            value = match[2] or b""  # a status line begins the next response
        return value.decode("ascii", "replace").strip()


@contextmanager
def capture_headers(url: str, folder: str) -> Iterator[ResponseHeaders | None]:
    """Capture the headers that an HTTP server sends; None for other transports, and on Windows."""
    if sys.platform == "win32" or not url.startswith(("https:", "http:")):
        yield None
        return
    descriptor = open_anonymous_file(folder)
    try:
        yield ResponseHeaders(descriptor)
    finally:
        os.close(descriptor)


class GitContext:
    """What all repositories of a command share.

    `resolved_refs` maps (URL, ref) to the commit and its tree, `tags` a URL to its tags and their commits.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        processes: GitProcesses,
        config: GitConfig,
        folder: str,
        destinations: Destinations,
    ) -> None:
        self.settings = settings
        self.destinations = destinations
        self.processes = processes
        self.config = config
        self.folder = folder
        self.resolved_refs: dict[tuple[str, str], tuple[str, str]] = {}
        self.tags: dict[str, dict[str, str]] = {}


class Remote:
    """A client for one server, over the one transport that its URL names.

    Each git inherits the descriptor of the cache's lock: if skillpm is killed, no other process can use the cache
    before that git has ended, too.
    """

    def __init__(self, url: str, path: str, environment: Mapping[str, str], context: GitContext, lock_fd: int) -> None:
        self.url = url
        self.path = path
        self.context = context
        self._base_environment = environment
        self._lock_fd = lock_fd
        self._environment: dict[str, str] = {}
        self._headers: ResponseHeaders | None = None
        self._target: GitTarget | None = None
        self._redirect_count = 0
        self._max_bytes = context.settings.limits.download

    def run(self, args: Sequence[str], data: bytes | None = None, *, stop_on: str = "") -> bytes:
        """Run a git command that contacts the server; retry if the server is busy or the connection is lost.

        Raises `GitFailed` for errors of the server, `CacheDamaged` for errors of the local cache.
        """
        context, settings = self.context, self.context.settings
        args = [
            "-c",
            # In whole seconds; 0 would disable the timeout.
            f"http.lowSpeedTime={max(1, math.ceil(settings.idle_timeout))}",
            f"--git-dir={self.path}",
            *args,
        ]
        with capture_headers(self._find_target().url, context.folder) as self._headers:
            limits = GitLimits(self.url, settings.network_timeout, self._max_bytes, self._check_progress, stop_on)
            attempt = 1
            while True:
                try:
                    return self._run_once(args, data, limits)
                except GitFailed as failed:
                    if stop_on and stop_on in failed.stderr:
                        raise
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
                        raise
                    limits.pause(
                        attempt,
                        context.processes.stop_event,
                        status=parse_http_status(failed.stderr) or 0,
                        retry_after=self._take_header(b"retry-after"),
                    )
                    attempt += 1
                    # The part of a pack that arrived is useless, but would count as incoming data of the next attempt.
                    remove_leftovers(self.path)

    def _run_once(self, args: Sequence[str], data: bytes | None, limits: GitLimits) -> bytes:
        headers, context = self._headers, self.context
        environment = {**self._get_environment(), **({} if headers is None else headers.environment)}
        pass_fds = [] if headers is None else [headers.descriptor]
        if os.name == "posix":
            pass_fds.append(self._lock_fd)
        return context.processes.run(
            args, environment, context.folder, data=data, deadline=limits, server_url=self.url, pass_fds=pass_fds
        )

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
                f"{self.url} redirects to {sanitize(to_url)}, which is not the address of a git repository",
                hint="check that `git clone` accepts this URL",
            )
        new = split_url(self.url, to_url.removesuffix(FIRST_REQUEST))
        # As git does, send the login to the same server only.
        is_same_server = (new.scheme, server_of(to_url)) == (old.scheme, server_of(from_url))
        new = new._replace(netloc=f"{login}{at}{new.netloc}") if is_same_server else new
        self._target, self._environment = GitTarget(url=new.geturl(), from_url=from_url), {}

    def _check_progress(self) -> None:
        header_bytes = 0 if self._headers is None else self._headers.size
        if measure_incoming(self.path) >= self._max_bytes or header_bytes > MAX_HEADER_BYTES:
            hint = "if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            raise FetchError(f"{self.url} sends more than {self._max_bytes} bytes", hint=hint)
