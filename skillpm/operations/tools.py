"""What every operation is given: the surroundings, a listener, and what is made once a run."""

import os
from typing import TYPE_CHECKING

from skillpm.events import Recorder
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.fetching.front import Fetchers


class Tools:
    """The surroundings and the listener; the fetchers, by the folder that relative paths start at."""

    def __init__(self, *, settings: Settings, reporter: Recorder | None = None) -> None:
        self.settings = settings
        self.reporter = reporter or Recorder()
        self.fetchers: dict[str, Fetchers] = {}

    @property
    def store(self) -> Store:
        """The store shared by all scopes."""
        return Store(os.path.join(self.settings.cache_dir, "store"))
