"""Work that takes time: a moving line in a terminal when it takes longer than a glance, a plain one in a log when it
takes long.
"""

import sys
import threading
from typing import Any

from skillpm.core.text import show

GLANCE = 0.4
PATIENCE = 10.0


class ProgressLines:
    """One line for each piece of work under way. Called from several threads."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._work: dict[str, Any] = {}
        self._display: Any = None
        self._timer: threading.Timer | None = None

    def started(self, what: str) -> None:
        """Show a piece of work, unless it is over very soon."""
        with self._guard:
            self._work[what] = None if self._display is None else self._display.add_task(show(what), total=None)
            if self._timer is None:
                self._timer = threading.Timer(GLANCE, self._appear)
                self._timer.daemon = True
                self._timer.start()

    def finished(self, what: str) -> None:
        """Take its line away; with the last one the whole display goes."""
        with self._guard:
            task = self._work.pop(what, None)
            if self._display is not None and task is not None:
                self._display.remove_task(task)
            if not self._work:
                self.stop()

    def stop(self) -> None:
        """Take the display away, so that something else can be printed."""
        with self._guard:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._display is not None:
                self._display.stop()
                self._display = None

    def _appear(self) -> None:
        from rich.console import Console  # noqa: PLC0415  (30 ms, for those who wait anyway)
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        with self._guard:
            if self._work and self._display is None and self._timer is not None:
                columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
                self._display = Progress(*columns, console=Console(stderr=True), transient=True)
                self._display.start()
                for what in self._work:
                    self._work[what] = self._display.add_task(show(what), total=None)


class LogLines:
    """The same for a log, where nothing moves: silent about what is soon over, a plain line for what takes long."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._timers: dict[str, threading.Timer] = {}
        self._guard = threading.Lock()

    def started(self, what: str) -> None:
        """Say in a while that this is still going on."""
        timer = threading.Timer(self._patience, self._say, [what])
        timer.daemon = True
        with self._guard:
            self._timers[what] = timer
        timer.start()

    def finished(self, what: str) -> None:
        """Have nothing to say of it any more."""
        with self._guard:
            timer = self._timers.pop(what, None)
        if timer is not None:
            timer.cancel()

    def stop(self) -> None:
        """Go on: a plain line is in nobody's way."""

    def _say(self, what: str) -> None:
        sys.stderr.write(f"still {show(what)} ({self._patience:g} s)\n")
        sys.stderr.flush()
