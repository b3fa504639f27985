"""Progress of tasks that take long: in a terminal a line for each running task, elsewhere plain lines now and then."""

import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from skillpm.cli.text_layout import line_width, truncate
from skillpm.core.text import sanitize

# Seconds until a task is shown, in a terminal and elsewhere; most tasks end before.
DISPLAY_DELAY = 0.4
LOG_DELAY = 10.0
MAX_NAMES = 3
# The columns of a line beside its description: the spinner, "receiving 12.3 of 45.6 MB" and the time.
RESERVED_WIDTH = 38
MEGABYTE = 1_000_000


class _Task:
    """A running task: its description, when it began, how far it is, and what shows it."""

    def __init__(self, description: str, began: float) -> None:
        self.description = description
        self.began = began
        self.state = ""
        self.timer: threading.Timer | None = None
        self.spinner: Any = None


class TaskProgress:
    """Shows each task that takes long. Thread-safe."""

    def __init__(self, *, is_terminal: bool, delay: float = 0) -> None:
        self._is_terminal = is_terminal
        self._delay = delay or (DISPLAY_DELAY if is_terminal else LOG_DELAY)
        self._lock = threading.RLock()
        self._tasks: dict[str, _Task] = {}
        # When each task began for the first time: its clock goes on if it comes again.
        self._began: dict[str, float] = {}
        self._has_shown = False
        self._display: Any = None

    def start_task(self, what: str, names: Sequence[str] = ()) -> None:
        """Show a task, unless it ends within the delay; at once if another one took longer."""
        listed = ", ".join(names) if len(names) <= MAX_NAMES else f"{len(names)} skills"
        described = f"{listed}: {what}" if names else what
        with self._lock:
            task = _Task(sanitize(described, 500), self._began.setdefault(what, time.monotonic()))
            self._tasks[what] = task
            if self._is_terminal and self._has_shown:
                self._show(what)
            else:
                self._show_later(what, self._delay)

    def update_task(self, what: str, phase: str, received: int = 0, total: int = 0) -> None:
        """Show how far a task is; does nothing if it is not running."""
        with self._lock:
            if (task := self._tasks.get(what)) is not None:
                task.state = sanitize(f"{phase} {_format_bytes(received, total)}".rstrip())
                if task.spinner is not None:
                    self._display.update(task.spinner, state=task.state)

    def finish_task(self, what: str) -> None:
        """Remove a task, and the display with the last one."""
        with self._lock:
            if (task := self._tasks.pop(what, None)) is None:
                return
            if task.timer is not None:
                task.timer.cancel()
            if task.spinner is not None:
                self._display.remove_task(task.spinner)
                if all(other.spinner is None for other in self._tasks.values()):
                    self.stop()

    def stop(self) -> None:
        """Remove the display, so that something else can be printed; it returns after the delay."""
        with self._lock:
            if self._display is not None:
                self._display.stop()
                self._display = None
                for what, task in self._tasks.items():
                    if task.spinner is not None:
                        task.spinner = None
                        self._show_later(what, self._delay)

    def _show_later(self, what: str, delay: float) -> None:
        timer = threading.Timer(delay, self._show, [what])
        timer.daemon = True
        self._tasks[what].timer = timer
        timer.start()

    def _show(self, what: str) -> None:
        with self._lock:
            if (task := self._tasks.get(what)) is None:
                return
            if not self._is_terminal:
                state = f", {task.state}" if task.state else ""
                sys.stderr.write(f"still {task.description} ({self._delay:g} s{state})\n")
                sys.stderr.flush()
                return
            self._has_shown = True
            if self._display is None:
                self._display = _create_display()
                self._display.start()
            description = truncate(task.description.replace("https://", ""), line_width() - RESERVED_WIDTH)
            task.spinner = self._display.add_task(description, total=None, state=task.state)
            self._display.tasks[-1].start_time = task.began


def _create_display() -> Any:
    from rich.console import Console  # noqa: PLC0415  (30 ms, spent only while the user waits)
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    texts = (TextColumn("{task.description}", markup=False), TextColumn("{task.fields[state]}", markup=False))
    columns = (SpinnerColumn(), *texts, TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _format_bytes(received: int, total: int) -> str:
    if not received:
        return ""
    of_total = f" of {total / MEGABYTE:.1f}" if total >= received else ""
    return f"{received / MEGABYTE:.1f}{of_total} MB"
