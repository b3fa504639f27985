"""What happens on the way, told to whoever listens: the console draws it, tests record it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol


class Reporter(Protocol):
    """Listens while an operation works. Every call returns at once and never fails."""

    def start_task(self, what: str) -> None:
        """A piece of work that takes time begins (`fetching https://…`)."""

    def finish_task(self, what: str) -> None:
        """That piece of work is over, well or badly."""

    def warn(self, message: str) -> None:
        """Something the user should know, which stops nothing."""

    def log_verbose(self, message: str) -> None:
        """A detail for `--verbose`: what was asked of the network, and how long it took."""

    def log_debug(self, message: str) -> None:
        """A detail for `-vv`: every program that was run, and how long it took."""


class Recorder:
    """A reporter that remembers; warnings come back in the result of every operation, in the words of `put`."""

    def __init__(self, listener: Reporter | None = None, transform: Callable[[str], str] = str) -> None:
        self.warnings: list[str] = []
        self._transform = transform
        self._listener = listener

    def start_task(self, what: str) -> None:
        """Pass the beginning on."""
        self._forward(lambda listener: listener.start_task(what))

    def finish_task(self, what: str) -> None:
        """Pass the end on."""
        self._forward(lambda listener: listener.finish_task(what))

    def warn(self, message: str) -> None:
        """Remember a warning once, and pass it on."""
        message = self._transform(message)
        if message not in self.warnings:
            self.warnings.append(message)
            self._forward(lambda listener: listener.warn(message))

    def log_verbose(self, message: str) -> None:
        """Pass a detail on."""
        self._forward(lambda listener: listener.log_verbose(message))

    def log_debug(self, message: str) -> None:
        """Pass a smaller detail on."""
        self._forward(lambda listener: listener.log_debug(message))

    def _forward(self, send: Callable[[Reporter], None]) -> None:
        """Tell the listener. Where nobody hears it any more (`skillpm … 2>&1 | head -1`), the work goes on."""
        if self._listener is not None:
            with suppress(OSError, ValueError):
                send(self._listener)
