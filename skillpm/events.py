"""What happens on the way, told to whoever listens: the console draws it, tests record it."""

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
    """A reporter that remembers; warnings come back in the result of every operation."""

    def __init__(self, listener: Reporter | None = None) -> None:
        self.warnings: list[str] = []
        self._listener = listener

    def started(self, what: str) -> None:
        """Pass the beginning on."""
        if self._listener is not None:
            self._listener.started(what)

    def finished(self, what: str) -> None:
        """Pass the end on."""
        if self._listener is not None:
            self._listener.finished(what)

    def warning(self, message: str) -> None:
        """Remember a warning once, and pass it on."""
        if message not in self.warnings:
            self.warnings.append(message)
            if self._listener is not None:
                self._listener.warning(message)

    def note(self, message: str) -> None:
        """Pass a detail on."""
        if self._listener is not None:
            self._listener.note(message)

    def detail(self, message: str) -> None:
        """Pass a smaller detail on."""
        if self._listener is not None:
            self._listener.detail(message)
