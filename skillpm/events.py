"""Progress and diagnostics of an operation: the console prints them, tests record them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol


class Reporter(Protocol):
    """Receives progress and diagnostics while an operation runs. Its methods must not block or raise."""

    def start_task(self, what: str, names: Sequence[str] = ()) -> None:
        """A task that takes time starts (`fetching https://…`), for these skills if they are known."""

    def update_task(self, what: str, phase: str, received: int = 0, total: int = 0) -> None:
        """A task entered a phase, or received bytes in it: how many so far, and of how many if the server said so."""

    def finish_task(self, what: str) -> None:
        """The task has ended, successfully or not."""

    def warn(self, message: str) -> None:
        """A warning: the operation continues."""

    def log_verbose(self, message: str) -> None:
        """A message for `--verbose`: network requests and their durations."""

    def log_debug(self, message: str) -> None:
        """A message for `-vv`: commands that were run and their durations."""


class Recorder:
    """A reporter that collects warnings for the result of the operation, and forwards everything to `listener`."""

    def __init__(self, listener: Reporter | None = None) -> None:
        self.warnings: list[str] = []
        self._known_warnings: set[str] = set()
        self._listener = listener

    def start_task(self, what: str, names: Sequence[str] = ()) -> None:
        """Forward the start of a task."""
        self._forward(lambda listener: listener.start_task(what, names))

    def update_task(self, what: str, phase: str, received: int = 0, total: int = 0) -> None:
        """Forward the progress of a task."""
        self._forward(lambda listener: listener.update_task(what, phase, received, total))

    def finish_task(self, what: str) -> None:
        """Forward the end of a task."""
        self._forward(lambda listener: listener.finish_task(what))

    def warn(self, message: str) -> None:
        """Record and forward a warning, unless it is a repetition."""
        if message not in self._known_warnings:
            self._known_warnings.add(message)
            self.warnings.append(message)
            self._forward(lambda listener: listener.warn(message))

    def log_verbose(self, message: str) -> None:
        """Forward a verbose message."""
        self._forward(lambda listener: listener.log_verbose(message))

    def log_debug(self, message: str) -> None:
        """Forward a debug message."""
        self._forward(lambda listener: listener.log_debug(message))

    def _forward(self, send: Callable[[Reporter], None]) -> None:
        if self._listener is not None:
            # A closed pipe (`skillpm … 2>&1 | head -1`) must not abort a change half way.
            with suppress(OSError, ValueError):
                send(self._listener)
