"""Progress of tasks: a spinner in a terminal after a moment, a plain line in a log once a task takes long."""

import sys
import threading
from typing import Any

from skillpm.core.text import sanitize

# Seconds until a task is shown; most tasks end before.
DISPLAY_DELAY = 0.4
LOG_DELAY = 10.0


class TerminalProgress:
    """A spinner for each task under way. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._tasks: dict[str, Any] = {}
        self._display: Any = None
        self._timer: threading.Timer | None = None

    def start_task(self, what: str) -> None:
        """Show a task, unless it ends within `DISPLAY_DELAY`."""
        with self._lock:
            self._tasks[what] = None if self._display is None else self._display.add_task(sanitize(what), total=None)
            if self._timer is None:
                self._timer = threading.Timer(DISPLAY_DELAY, self._start_display)
                self._timer.daemon = True
                self._timer.start()

    def finish_task(self, what: str) -> None:
        """Remove a task, and the display with the last one."""
        with self._lock:
            task = self._tasks.pop(what, None)
            if self._display is not None and task is not None:
                self._display.remove_task(task)
            if not self._tasks:
                self.stop()

    def stop(self) -> None:
        """Remove the display, so that something else can be printed."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._display is not None:
                self._display.stop()
                self._display = None

    def _start_display(self) -> None:
        from rich.console import Console  # noqa: PLC0415  (30 ms, spent only while the user waits)
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        with self._lock:
            if self._tasks and self._display is None and self._timer is not None:
                columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
                self._display = Progress(*columns, console=Console(stderr=True), transient=True)
                self._display.start()
                for what in self._tasks:
                    self._tasks[what] = self._display.add_task(sanitize(what), total=None)


class LogProgress:
    """Progress for output that is not a terminal: one plain line for each task that takes long. Thread-safe."""

    def __init__(self, delay: float = LOG_DELAY) -> None:
        self._delay = delay
        self._timers: dict[str, threading.Timer] = {}
        self._lock = threading.Lock()

    def start_task(self, what: str) -> None:
        """Print a line for a task, unless it ends within the delay."""
        timer = threading.Timer(self._delay, self._print_line, [what])
        timer.daemon = True
        with self._lock:
            self._timers[what] = timer
        timer.start()

    def finish_task(self, what: str) -> None:
        """Cancel the line of a task."""
        with self._lock:
            timer = self._timers.pop(what, None)
        if timer is not None:
            timer.cancel()

    def stop(self) -> None:
        """Do nothing: there is no display to remove."""

    def _print_line(self, what: str) -> None:
        sys.stderr.write(f"still {sanitize(what)} ({self._delay:g} s)\n")
        sys.stderr.flush()
