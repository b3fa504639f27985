"""The only printer: data to stdout, talk to stderr, colour never the only carrier of meaning."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from skillpm.cli.progress import LogProgress, TerminalProgress
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import HIDDEN, redact_credentials, sanitize


class Console:
    """Where a command's words go. A `Reporter` too: it tells of work that takes time, and of warnings."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, verbose: int = 0, color: bool = True) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose
        wanted = color and "NO_COLOR" not in os.environ
        self.uses_color = wanted and sys.stdout.isatty()
        self.uses_stderr_color = wanted and sys.stderr.isatty()
        silent = as_json or quiet or verbose
        self._progress = None if silent else TerminalProgress() if sys.stderr.isatty() else LogProgress()

    def print_json(self, value: Any) -> None:
        """Print an object as JSON: the only thing on stdout."""
        click.echo(dump_json(value))

    def print_line(self, text: str = "", **style: Any) -> None:
        """Print a line of output."""
        text = escape_controls(text)
        click.echo(click.style(text, **style) if style and self.uses_color else text)

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print many lines, plain."""
        sys.stdout.write(escape_controls("\n".join(lines)) + "\n")
        sys.stdout.flush()  # what is said about them comes after them, also where both go to one file

    def print_raw(self, text: str) -> None:
        """Print text for an agent as it is: it was made safe where it was written, and keeps its tabs."""
        if text:
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
            sys.stdout.flush()

    def print_message(self, text: str) -> None:
        """Say something that is no data."""
        if not self.quiet and not self.as_json:
            self._stop_progress()
            for line in wrap_text(escape_controls(redact_credentials(text)), indent=2):
                click.echo(line, err=True)

    def start_task(self, what: str) -> None:
        """Show that work began: a moving line in a terminal, a plain one in a log when it takes long, or with `-v`."""
        if self.verbose:
            click.echo(sanitize(what), err=True)
        elif self._progress is not None:
            self._progress.start_task(what)

    def finish_task(self, what: str) -> None:
        """Show that work is over."""
        if self._progress is not None:
            self._progress.finish_task(what)

    def warn(self, message: str) -> None:
        """Warn at once; with `--json` the warnings stand in the result."""
        if not self.as_json and not self.quiet:
            self._stop_progress()
            text = "\n".join(wrap_text(f"warning: {sanitize(message, 500)}", indent=9))
            word = click.style("warning:", fg="yellow", bold=True) if self.uses_stderr_color else "warning:"
            click.echo(word + text.removeprefix("warning:"), err=True)

    def log_verbose(self, message: str) -> None:
        """Tell a detail with `--verbose`."""
        if self.verbose:
            click.echo(sanitize(message, 500), err=True)

    def log_debug(self, message: str) -> None:
        """Tell a smaller detail with `-vv`."""
        if self.verbose > 1:
            click.echo(sanitize(message, 500), err=True)

    def _stop_progress(self) -> None:
        if self._progress is not None:
            self._progress.stop()


VARIATION_SELECTOR_PREFIX = (
    b"\xf3\xa0"  # what U+E0000 to U+E0FFF begin with: the only ones that hide and yet count as printable
)


def escape_controls(text: str) -> str:
    """Give text of ours with what is not ours in it made harmless: line breaks stay, what hides or moves is escaped."""
    if text.replace("\n", " ").isprintable() and VARIATION_SELECTOR_PREFIX not in text.encode():
        return text  # the quick question: ten thousand lines come as one text
    return HIDDEN.sub(lambda match: match.group() if match.group() == "\n" else sanitize(match.group()), text)


def dump_json(value: Any) -> str:
    """Write JSON in real letters; what could hurt a terminal is escaped as JSON escapes it."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return HIDDEN.sub(lambda match: match.group() if match.group() == "\n" else json.dumps(match.group())[1:-1], text)
