"""What every operation receives: settings, a reporter, and what is created once per command."""

import os
from typing import TYPE_CHECKING

from skillpm.events import Recorder
from skillpm.operations.context.temporary_cache import OverlayStore, TemporaryCache, is_writable
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.fetchers.dispatcher import FetcherDispatcher


class Context:
    """The settings and the reporter of a command, its store, and its fetchers by the folder of the manifest."""

    def __init__(self, *, settings: Settings, reporter: Recorder | None = None) -> None:
        self.settings = settings
        self.reporter = reporter or Recorder()
        self.fetchers: dict[str, FetcherDispatcher] = {}
        self._temporary = TemporaryCache(settings.cache_dir, self.reporter.warn)
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        """The store shared by all scopes."""
        if self._store is None:
            folder = os.path.join(self.settings.cache_dir, "store")
            self._store = Store(folder) if is_writable(folder) else OverlayStore(folder, self._temporary)
        return self._store

    def git_cache_dir(self) -> str:
        """Return the folder for cached git repositories."""
        folder = os.path.join(self.settings.cache_dir, "git")
        return folder if is_writable(folder) else os.path.join(self._temporary.get_folder(), "git")
