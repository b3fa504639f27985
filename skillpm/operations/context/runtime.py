"""What every operation is given: the surroundings, a listener, and what is made once a run."""

import os
from typing import TYPE_CHECKING

from skillpm.events import Recorder
from skillpm.operations.context.temporary_cache import StoreAbove, TemporaryCache, can_be_written
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.fetchers.dispatcher import Fetchers


class Tools:
    """The surroundings and the listener; the fetchers, by the folder that relative paths start at."""

    def __init__(self, *, settings: Settings, reporter: Recorder | None = None) -> None:
        self.settings = settings
        self.reporter = reporter or Recorder()
        self.fetchers: dict[str, Fetchers] = {}
        self._temporary = TemporaryCache(settings.cache_dir, self.reporter.warning)
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        """The store shared by all scopes."""
        if self._store is None:
            folder = os.path.join(self.settings.cache_dir, "store")
            self._store = Store(folder) if can_be_written(folder) else StoreAbove(folder, self._temporary)
        return self._store

    def git_cache(self) -> str:
        """Give where the cache of git repositories is to lie."""
        folder = os.path.join(self.settings.cache_dir, "git")
        return folder if can_be_written(folder) else os.path.join(self._temporary.folder(), "git")
