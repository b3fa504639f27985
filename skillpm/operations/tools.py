"""What every operation is given, and the two things every changing one does: hold the lock, heal first."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from skillpm.errors import SkillpmError
from skillpm.events import Recorder
from skillpm.fetching.front import Fetchers
from skillpm.files import discard_file
from skillpm.installing.transaction import recover
from skillpm.operations.scope import Scope
from skillpm.settings import Settings
from skillpm.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """The surroundings and the listener."""

    settings: Settings
    reporter: Recorder = field(default_factory=Recorder)
    fetchers: dict[str, Fetchers] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """The store shared by all scopes."""
        return Store(os.path.join(self.settings.cache_dir, "store"))


@contextmanager
def exclusive(scope: Scope, tools: Tools, *, force: bool = False) -> Iterator[None]:
    """Hold a scope's lock, and finish first what an interrupted command left.

    `force` gives up a change that cannot be finished, since what was staged for it is gone.
    """
    # The lock library costs 20 ms: a command with nothing to do never comes here.
    from skillpm.locking import locked  # noqa: PLC0415

    layout = scope.layout
    with locked(layout.lock, tools.settings.lock_timeout, layout.directory, tools.reporter.warning):
        try:
            if recover(scope.target(tools.settings), tools.reporter.warning):
                tools.reporter.warning("a change that had been interrupted was finished first")
        except SkillpmError:
            if not force:
                raise
            discard_file(layout.journal)
        yield


def tidy_up(scope: Scope) -> None:
    """Take away an empty skills directory that a failed first command made."""
    ours = scope.layout.ours
    with suppress(OSError):
        for name in ("lock.pid", "lock"):
            discard_file(os.path.join(ours, name))
        os.rmdir(ours)
        os.rmdir(scope.layout.directory)
