"""The line to a repository's server: one git process a question, held to its bounds, asked again where it broke."""

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from skillpm.errors import FetchError
from skillpm.fetchers.git.gitconfig import UserConfig
from skillpm.fetchers.git.limits import Deadline
from skillpm.fetchers.git.objects import CacheDamaged
from skillpm.fetchers.git.process import Children, GitFailed, nameless_file
from skillpm.fetchers.git.repository_cache import arriving, sweep
from skillpm.fetchers.git.stderr_patterns import is_damage, is_passing, is_redirect, status_of
from skillpm.fetchers.git.transport import network_environment
from skillpm.fetchers.retry import TRIES
from skillpm.settings import Settings

MOST_HEARD = 1_000_000
ASKED = re.compile(rb"(HTTP/[0-9.]+ [0-9]{3}\b|retry-after: *([^\r\n]+))", re.IGNORECASE)


class Hearing:
    """The headers of the answers to one git process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.environment = {"GIT_TRACE_CURL": f"/dev/fd/{descriptor}", "GIT_TRACE_CURL_NO_DATA": "1"}

    @property
    def size(self) -> int:
        """Give how much was heard."""
        return os.fstat(self.descriptor).st_size

    def retry_after(self) -> str:
        """Give what the last answer said of a pause, and forget all that was heard."""
        heard = os.pread(self.descriptor, MOST_HEARD, 0)
        os.ftruncate(self.descriptor, 0)
        said = b""
        for line in heard.splitlines():
            if (match := ASKED.search(line)) and b"<= Recv header: " in line:
                said = match[2] or b""
        return said.decode("ascii", "replace")


@contextmanager
def hearing(url: str, folder: str) -> Iterator[Hearing | None]:
    """Listen to what a server says over HTTP; None over other transports, and on Windows."""
    if sys.platform == "win32" or not url.startswith(("https:", "http:")):
        yield None
        return
    descriptor = nameless_file(folder)
    try:
        yield Hearing(descriptor)
    finally:
        os.close(descriptor)


class Surroundings:
    """What every repository of a run needs to know; `seen` remembers which commit a ref was."""

    def __init__(self, *, settings: Settings, children: Children, config: UserConfig, folder: str) -> None:
        self.settings = settings
        self.children = children
        self.config = config
        self.folder = folder
        self.seen: dict[tuple[str, str], tuple[str, str]] = {}
        self.tags: dict[str, dict[str, str]] = {}


class Line:
    """Asks one server, by the one transport its URL means. Each git holds `lock`, too: if we are killed, nobody else
    works in the cache before it has ended.
    """

    def __init__(self, url: str, path: str, base: Mapping[str, str], around: Surroundings, lock: int) -> None:
        self.url = url
        self.path = path
        self.around = around
        self._base = base
        self._lock = lock
        self._environment: dict[str, str] = {}
        self._hearing: Hearing | None = None
        self._with_token = True
        self._limit = around.settings.limits.download

    def ask(self, words: Sequence[str], data: bytes | None = None) -> bytes:
        """Ask, and once or twice more where the server was only busy or the line broke off.

        Raises `GitFailed` for what the server says, `CacheDamaged` for what is wrong here.
        """
        around, settings = self.around, self.around.settings
        # Git counts in whole seconds, and 0 would be for ever.
        words = [
            "-c",
            f"http.lowSpeedTime={max(1, math.ceil(settings.idle_timeout))}",
            f"--git-dir={self.path}",
            *words,
        ]
        with hearing(self.url, around.folder) as self._hearing:
            deadline = Deadline(self.url, settings.network_timeout, self._limit, self._watch)
            attempt = 1
            while True:
                try:
                    return self._asked(words, data, deadline)
                except GitFailed as failed:
                    self._watch()  # the system may have ended git at the limit
                    if is_damage(failed) or not os.path.isdir(self.path):  # or somebody deleted it
                        raise CacheDamaged(failed.said) from failed
                    if is_redirect(failed) and self._with_token:
                        # Git would send the token wherever it is sent itself: on with the way, and without the token.
                        self._with_token, self._environment = False, {}
                        continue
                    if attempt == TRIES or not is_passing(failed):
                        raise
                    said = "" if self._hearing is None else self._hearing.retry_after()
                    deadline.pause(attempt, around.children.stopped, status=status_of(failed) or 0, retry_after=said)
                    attempt += 1
                    sweep(self.path)  # half a pack counts as what arrives, and has come to nothing

    def _asked(self, words: Sequence[str], data: bytes | None, deadline: Deadline) -> bytes:
        heard, around = self._hearing, self.around
        environment = {**self._surrounded(), **({} if heard is None else heard.environment)}
        kept = [] if heard is None else [heard.descriptor]
        if os.name == "posix":
            kept.append(self._lock)
        return around.children.run(
            words, environment, around.folder, data=data, deadline=deadline, asking=self.url, kept=kept
        )

    def _surrounded(self) -> Mapping[str, str]:
        if not self._environment:
            config, settings = self.around.config, self.around.settings
            self._environment = network_environment(
                self.url, self._base, config, settings, self._rewritten, with_token=self._with_token
            )
        return self._environment

    def _watch(self) -> None:
        heard = 0 if self._hearing is None else self._hearing.size
        if arriving(self.path) >= self._limit or heard > MOST_HEARD:
            hint = "if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            raise FetchError(f"{self.url} sends more than {self._limit} bytes", hint=hint)

    def _rewritten(self, environment: Mapping[str, str]) -> str:
        """Ask git what the user's `insteadOf` makes of the URL; no network."""
        words = [f"--git-dir={self.path}", "ls-remote", "--get-url", "origin"]
        return os.fsdecode(self.around.children.run(words, environment, self.around.folder)).strip()
