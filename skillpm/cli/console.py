"""Console output: data goes to stdout, diagnostics go to stderr. No information is conveyed by color alone."""

import json
import os
import sys
import threading
from collections.abc import Iterable
from typing import Any

import click

from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import HIDDEN, redact_credentials, sanitize

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


class Console:
    """Output of a command. Implements `Reporter`: shows progress and warnings."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, verbose: int = 0, color: bool = True) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose
        color = color and "NO_COLOR" not in os.environ
        self.uses_color = color and sys.stdout.isatty()
        self.uses_stderr_color = color and sys.stderr.isatty()
        hides_progress = as_json or quiet or verbose
        self._progress = None if hides_progress else TerminalProgress() if sys.stderr.isatty() else LogProgress()

    def print_json(self, value: Any) -> None:
        """Print a value as JSON; nothing else may be printed to stdout."""
        click.echo(dump_json(value))

    def print_line(self, text: str = "", **style: Any) -> None:
        """Print a line to stdout; `style` is what `click.style` takes."""
        text = escape_controls(text)
        click.echo(click.style(text, **style) if style and self.uses_color else text)

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print many unstyled lines to stdout."""
        sys.stdout.write(escape_controls("\n".join(lines)) + "\n")
        sys.stdout.flush()  # keeps messages on stderr below them where both go to one file (`> log 2>&1`)

    def print_raw(self, text: str) -> None:
        """Print text for an agent unchanged, tabs included; it was sanitized when it was rendered."""
        if text:
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
            sys.stdout.flush()

    def print_message(self, text: str) -> None:
        """Print a message to stderr, unless `--quiet` or `--json` is set."""
        if not self.quiet and not self.as_json:
            self._stop_progress()
            for line in wrap_text(escape_controls(redact_credentials(text)), indent=2):
                click.echo(line, err=True)

    def start_task(self, what: str) -> None:
        """Report that a task began: a spinner in a terminal; elsewhere a line, once it takes long or with `-v`."""
        if self.verbose:
            click.echo(sanitize(what), err=True)
        elif self._progress is not None:
            self._progress.start_task(what)

    def finish_task(self, what: str) -> None:
        """Report that a task ended."""
        if self._progress is not None:
            self._progress.finish_task(what)

    def warn(self, message: str) -> None:
        """Print a warning to stderr; with `--json`, warnings are part of the result instead."""
        if not self.as_json and not self.quiet:
            self._stop_progress()
            text = "\n".join(wrap_text(f"warning: {sanitize(message, 500)}", indent=9))
            label = click.style("warning:", fg="yellow", bold=True) if self.uses_stderr_color else "warning:"
            click.echo(label + text.removeprefix("warning:"), err=True)

    def log_verbose(self, message: str) -> None:
        """Print a message to stderr if `-v` is set."""
        if self.verbose:
            click.echo(sanitize(message, 500), err=True)

    def log_debug(self, message: str) -> None:
        """Print a message to stderr if `-vv` is set."""
        if self.verbose > 1:
            click.echo(sanitize(message, 500), err=True)

    def _stop_progress(self) -> None:
        if self._progress is not None:
            self._progress.stop()


# First UTF-8 bytes of U+E0000 to U+E0FFF (tags, variation selectors): invisible, although `isprintable` accepts them.
VARIATION_SELECTOR_PREFIX = b"\xf3\xa0"


def escape_controls(text: str) -> str:
    """Return text with control and invisible characters escaped, other than line breaks."""
    # `list` passes 10,000 lines as one text; this check is much faster than the regular expression.
    if text.replace("\n", " ").isprintable() and VARIATION_SELECTOR_PREFIX not in text.encode():
        return text
    return HIDDEN.sub(lambda match: match.group() if match.group() == "\n" else sanitize(match.group()), text)


def dump_json(value: Any) -> str:
    """Return a value as indented JSON in UTF-8; characters that could harm a terminal are escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return HIDDEN.sub(lambda match: match.group() if match.group() == "\n" else json.dumps(match.group())[1:-1], text)
