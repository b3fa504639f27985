"""The line to a repository's server: one git process a question, held to its bounds, asked again where it broke."""

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from skillpm.errors import FetchError
from skillpm.fetchers.git.gitconfig import GitConfig
from skillpm.fetchers.git.limits import GitLimits
from skillpm.fetchers.git.objects import CacheDamaged
from skillpm.fetchers.git.process import GitFailed, GitProcesses, open_anonymous_file
from skillpm.fetchers.git.repository_cache import measure_incoming, remove_leftovers
from skillpm.fetchers.git.stderr_patterns import is_cache_damage, is_redirect, is_transient, parse_http_status
from skillpm.fetchers.git.transport import build_network_environment
from skillpm.fetchers.retry import MAX_ATTEMPTS
from skillpm.settings import Settings

MAX_HEADER_BYTES = 1_000_000
STATUS_OR_RETRY_AFTER = re.compile(rb"(HTTP/[0-9.]+ [0-9]{3}\b|retry-after: *([^\r\n]+))", re.IGNORECASE)


class ResponseHeaders:
    """The headers of the answers to one git process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.environment = {"GIT_TRACE_CURL": f"/dev/fd/{descriptor}", "GIT_TRACE_CURL_NO_DATA": "1"}

    @property
    def size(self) -> int:
        """Give how much was heard."""
        return os.fstat(self.descriptor).st_size

    def take_retry_after(self) -> str:
        """Give what the last answer said of a pause, and forget all that was heard."""
        heard = os.pread(self.descriptor, MAX_HEADER_BYTES, 0)
        os.ftruncate(self.descriptor, 0)
        said = b""
        for line in heard.splitlines():
            if (match := STATUS_OR_RETRY_AFTER.search(line)) and b"<= Recv header: " in line:
                said = match[2] or b""
        return said.decode("ascii", "replace")


@contextmanager
def capture_headers(url: str, folder: str) -> Iterator[ResponseHeaders | None]:
    """Listen to what a server says over HTTP; None over other transports, and on Windows."""
    if sys.platform == "win32" or not url.startswith(("https:", "http:")):
        yield None
        return
    descriptor = open_anonymous_file(folder)
    try:
        yield ResponseHeaders(descriptor)
    finally:
        os.close(descriptor)


class GitContext:
    """What every repository of a run needs to know; `seen` remembers which commit a ref was."""

    def __init__(self, *, settings: Settings, processes: GitProcesses, config: GitConfig, folder: str) -> None:
        self.settings = settings
        self.processes = processes
        self.config = config
        self.folder = folder
        self.resolved_refs: dict[tuple[str, str], tuple[str, str]] = {}
        self.tags: dict[str, dict[str, str]] = {}


class Remote:
    """Asks one server, by the one transport its URL means. Each git holds `lock`, too: if we are killed, nobody else
    works in the cache before it has ended.
    """

    def __init__(self, url: str, path: str, environment: Mapping[str, str], context: GitContext, lock_fd: int) -> None:
        self.url = url
        self.path = path
        self.context = context
        self._base_environment = environment
        self._lock_fd = lock_fd
        self._environment: dict[str, str] = {}
        self._headers: ResponseHeaders | None = None
        self._send_token = True
        self._max_bytes = context.settings.limits.download

    def run(self, args: Sequence[str], data: bytes | None = None) -> bytes:
        """Ask, and once or twice more where the server was only busy or the line broke off.

        Raises `GitFailed` for what the server says, `CacheDamaged` for what is wrong here.
        """
        around, settings = self.context, self.context.settings
        # Git counts in whole seconds, and 0 would be for ever.
        args = [
            "-c",
            f"http.lowSpeedTime={max(1, math.ceil(settings.idle_timeout))}",
            f"--git-dir={self.path}",
            *args,
        ]
        with capture_headers(self.url, around.folder) as self._headers:
            deadline = GitLimits(self.url, settings.network_timeout, self._max_bytes, self._check_progress)
            attempt = 1
            while True:
                try:
                    return self._run_once(args, data, deadline)
                except GitFailed as failed:
                    self._check_progress()  # the system may have ended git at the limit
                    if is_cache_damage(failed) or not os.path.isdir(self.path):  # or somebody deleted it
                        raise CacheDamaged(failed.stderr) from failed
                    if is_redirect(failed) and self._send_token:
                        # Git would send the token wherever it is sent itself: on with the way, and without the token.
                        self._send_token, self._environment = False, {}
                        continue
                    if attempt == MAX_ATTEMPTS or not is_transient(failed):
                        raise
                    said = "" if self._headers is None else self._headers.take_retry_after()
                    deadline.pause(
                        attempt, around.processes.stop_event, status=parse_http_status(failed) or 0, retry_after=said
                    )
                    attempt += 1
                    remove_leftovers(self.path)  # half a pack counts as what arrives, and has come to nothing

    def _run_once(self, args: Sequence[str], data: bytes | None, deadline: GitLimits) -> bytes:
        heard, around = self._headers, self.context
        environment = {**self._get_environment(), **({} if heard is None else heard.environment)}
        kept = [] if heard is None else [heard.descriptor]
        if os.name == "posix":
            kept.append(self._lock_fd)
        return around.processes.run(
            args, environment, around.folder, data=data, deadline=deadline, server_url=self.url, pass_fds=kept
        )

    def _get_environment(self) -> Mapping[str, str]:
        if not self._environment:
            config, settings = self.context.config, self.context.settings
            self._environment = build_network_environment(
                self.url, self._base_environment, config, settings, self._rewrite_url, with_token=self._send_token
            )
        return self._environment

    def _check_progress(self) -> None:
        heard = 0 if self._headers is None else self._headers.size
        if measure_incoming(self.path) >= self._max_bytes or heard > MAX_HEADER_BYTES:
            hint = "if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            raise FetchError(f"{self.url} sends more than {self._max_bytes} bytes", hint=hint)

    def _rewrite_url(self, environment: Mapping[str, str]) -> str:
        """Ask git what the user's `insteadOf` makes of the URL; no network."""
        words = [f"--git-dir={self.path}", "ls-remote", "--get-url", "origin"]
        return os.fsdecode(self.context.processes.run(words, environment, self.context.folder)).strip()
