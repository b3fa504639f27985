"""What happens on the way, told to whoever listens: the console draws it, tests record it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol


class Reporter(Protocol):
    """Listens while an operation works. Every call returns at once and never fails."""

    def started(self, what: str) -> None:
        """A piece of work that takes time begins (`fetching https://…`)."""

    def finished(self, what: str) -> None:
        """That piece of work is over, well or badly."""

    def warning(self, message: str) -> None:
        """Something the user should know, which stops nothing."""

    def note(self, message: str) -> None:
        """A detail for `--verbose`: what was asked of the network, and how long it took."""

    def detail(self, message: str) -> None:
        """A detail for `-vv`: every program that was run, and how long it took."""


class Recorder:
    """A reporter that remembers; warnings come back in the result of every operation, in the words of `put`."""

    def __init__(self, listener: Reporter | None = None, put: Callable[[str], str] = str) -> None:
        self.warnings: list[str] = []
        self._put = put
        self._listener = listener

    def started(self, what: str) -> None:
        """Pass the beginning on."""
        self._pass_on(lambda listener: listener.started(what))

    def finished(self, what: str) -> None:
        """Pass the end on."""
        self._pass_on(lambda listener: listener.finished(what))

    def warning(self, message: str) -> None:
        """Remember a warning once, and pass it on."""
        message = self._put(message)
        if message not in self.warnings:
            self.warnings.append(message)
            self._pass_on(lambda listener: listener.warning(message))

    def note(self, message: str) -> None:
        """Pass a detail on."""
        self._pass_on(lambda listener: listener.note(message))

    def detail(self, message: str) -> None:
        """Pass a smaller detail on."""
        self._pass_on(lambda listener: listener.detail(message))

    def _pass_on(self, tell: Callable[[Reporter], None]) -> None:
        """Tell the listener. Where nobody hears it any more (`skillpm … 2>&1 | head -1`), the work goes on."""
        if self._listener is not None:
            with suppress(OSError, ValueError):
                tell(self._listener)
