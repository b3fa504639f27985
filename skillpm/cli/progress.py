"""Work that takes time: a moving line in a terminal when it takes longer than a glance, a plain one in a log when it
takes long.
"""

import sys
import threading
from typing import Any

from skillpm.core.text import sanitize

DISPLAY_DELAY = 0.4
LOG_DELAY = 10.0


class TerminalProgress:
    """One line for each piece of work under way. Called from several threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._tasks: dict[str, Any] = {}
        self._display: Any = None
        self._timer: threading.Timer | None = None

    def start_task(self, what: str) -> None:
        """Show a piece of work, unless it is over very soon."""
        with self._lock:
            self._tasks[what] = None if self._display is None else self._display.add_task(sanitize(what), total=None)
            if self._timer is None:
                self._timer = threading.Timer(DISPLAY_DELAY, self._start_display)
                self._timer.daemon = True
                self._timer.start()

    def finish_task(self, what: str) -> None:
        """Take its line away; with the last one the whole display goes."""
        with self._lock:
            task = self._tasks.pop(what, None)
            if self._display is not None and task is not None:
                self._display.remove_task(task)
            if not self._tasks:
                self.stop()

    def stop(self) -> None:
        """Take the display away, so that something else can be printed."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._display is not None:
                self._display.stop()
                self._display = None

    def _start_display(self) -> None:
        from rich.console import Console  # noqa: PLC0415  (30 ms, for those who wait anyway)
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        with self._lock:
            if self._tasks and self._display is None and self._timer is not None:
                columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
                self._display = Progress(*columns, console=Console(stderr=True), transient=True)
                self._display.start()
                for what in self._tasks:
                    self._tasks[what] = self._display.add_task(sanitize(what), total=None)


class LogProgress:
    """The same for a log, where nothing moves: silent about what is soon over, a plain line for what takes long."""

    def __init__(self, delay: float = LOG_DELAY) -> None:
        self._delay = delay
        self._timers: dict[str, threading.Timer] = {}
        self._lock = threading.Lock()

    def start_task(self, what: str) -> None:
        """Say in a while that this is still going on."""
        timer = threading.Timer(self._delay, self._print_line, [what])
        timer.daemon = True
        with self._lock:
            self._timers[what] = timer
        timer.start()

    def finish_task(self, what: str) -> None:
        """Have nothing to say of it any more."""
        with self._lock:
            timer = self._timers.pop(what, None)
        if timer is not None:
            timer.cancel()

    def stop(self) -> None:
        """Go on: a plain line is in nobody's way."""

    def _print_line(self, what: str) -> None:
        sys.stderr.write(f"still {sanitize(what)} ({self._delay:g} s)\n")
        sys.stderr.flush()
