"""The line to a repository's server: one git process a question, held to its bounds, asked again where it broke."""

import os
from collections.abc import Mapping, Sequence

from skillpm.errors import FetchError
from skillpm.fetching.git.cache import arriving
from skillpm.fetching.git.complaints import is_damage, is_passing
from skillpm.fetching.git.objects import CacheDamaged
from skillpm.fetching.git.process import Children, Deadline, GitFailed
from skillpm.fetching.git.transport import network_environment
from skillpm.fetching.git.user_config import UserConfig
from skillpm.settings import Settings

PAUSES = (0.3, 1.0)


class Surroundings:
    """What every repository of a run needs to know; `seen` remembers which commit a ref was."""

    def __init__(self, *, settings: Settings, children: Children, config: UserConfig, folder: str) -> None:
        self.settings = settings
        self.children = children
        self.config = config
        self.folder = folder
        self.seen: dict[tuple[str, str], tuple[str, str]] = {}


class Line:
    """Asks one server, by the one transport its URL means."""

    def __init__(self, url: str, path: str, base: Mapping[str, str], around: Surroundings) -> None:
        self.url = url
        self.path = path
        self.around = around
        self._base = base
        self._environment: dict[str, str] = {}

    def ask(self, words: Sequence[str], data: bytes | None = None) -> bytes:
        """Ask, and once or twice more where the server was only busy or the line broke off.

        Raises `GitFailed` for what the server says, `CacheDamaged` for what is wrong here.
        """
        around = self.around
        if not self._environment:
            self._environment = network_environment(
                self.url, self._base, around.config, around.settings, self._rewritten
            )
        words = [f"--git-dir={self.path}", *words]
        limit = around.settings.limits.download
        for pause in (*PAUSES, None):
            deadline = Deadline(self.url, around.settings.network_timeout, limit, self._watch)
            try:
                return around.children.run(words, self._environment, around.folder, data=data, deadline=deadline)
            except GitFailed as failed:
                self._watch()  # the system may have ended git at the limit
                if is_damage(failed):
                    raise CacheDamaged(failed.said) from failed
                if pause is None or not is_passing(failed):
                    raise
                around.children.stopped.wait(pause)
        raise AssertionError("the last try returns or raises")  # pragma: no cover

    def _watch(self) -> None:
        limit = self.around.settings.limits.download
        if arriving(self.path) >= limit:
            hint = "if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            raise FetchError(f"{self.url} sends more than {limit} bytes", hint=hint)

    def _rewritten(self, environment: Mapping[str, str]) -> str:
        """Ask git what the user's `insteadOf` makes of the URL; no network."""
        words = [f"--git-dir={self.path}", "ls-remote", "--get-url", "origin"]
        return os.fsdecode(self.around.children.run(words, environment, self.around.folder)).strip()
