"""The only printer: data to stdout, talk to stderr, colour never the only carrier of meaning."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from skillpm.cli.progress import LogLines, ProgressLines
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import HIDDEN, show, without_secrets


class Console:
    """Where a command's words go. A `Reporter` too: it tells of work that takes time, and of warnings."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, verbose: int = 0, colour: bool = True) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose
        wanted = colour and "NO_COLOR" not in os.environ
        self.colour = wanted and sys.stdout.isatty()
        self.err_colour = wanted and sys.stderr.isatty()
        silent = as_json or quiet or verbose
        self._progress = None if silent else ProgressLines() if sys.stderr.isatty() else LogLines()

    def data(self, value: Any) -> None:
        """Print an object as JSON: the only thing on stdout."""
        click.echo(as_json_text(value))

    def line(self, text: str = "", **style: Any) -> None:
        """Print a line of output."""
        text = plain(text)
        click.echo(click.style(text, **style) if style and self.colour else text)

    def lines(self, lines: Iterable[str]) -> None:
        """Print many lines, plain."""
        sys.stdout.write(plain("\n".join(lines)) + "\n")
        sys.stdout.flush()  # what is said about them comes after them, also where both go to one file

    def block(self, text: str) -> None:
        """Print text for an agent as it is: it was made safe where it was written, and keeps its tabs."""
        if text:
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
            sys.stdout.flush()

    def say(self, text: str) -> None:
        """Say something that is no data."""
        if not self.quiet and not self.as_json:
            self._stop_progress()
            for line in wrapped(plain(without_secrets(text)), indent=2):
                click.echo(line, err=True)

    def started(self, what: str) -> None:
        """Show that work began: a moving line in a terminal, a plain one in a log when it takes long, or with `-v`."""
        if self.verbose:
            click.echo(show(what), err=True)
        elif self._progress is not None:
            self._progress.started(what)

    def finished(self, what: str) -> None:
        """Show that work is over."""
        if self._progress is not None:
            self._progress.finished(what)

    def warning(self, message: str) -> None:
        """Warn at once; with `--json` the warnings stand in the result."""
        if not self.as_json and not self.quiet:
            self._stop_progress()
            text = "\n".join(wrapped(f"warning: {show(message, 500)}", indent=9))
            word = click.style("warning:", fg="yellow", bold=True) if self.err_colour else "warning:"
            click.echo(word + text.removeprefix("warning:"), err=True)

    def note(self, message: str) -> None:
        """Tell a detail with `--verbose`."""
        if self.verbose:
            click.echo(show(message, 500), err=True)

    def detail(self, message: str) -> None:
        """Tell a smaller detail with `-vv`."""
        if self.verbose > 1:
            click.echo(show(message, 500), err=True)

    def _stop_progress(self) -> None:
        if self._progress is not None:
            self._progress.stop()


VARIATION = b"\xf3\xa0"  # what U+E0000 to U+E0FFF begin with: the only ones that hide and yet count as printable


def plain(text: str) -> str:
    """Give text of ours with what is not ours in it made harmless: line breaks stay, what hides or moves is escaped."""
    if text.replace("\n", " ").isprintable() and VARIATION not in text.encode():
        return text  # the quick question: ten thousand lines come as one text
    return HIDDEN.sub(lambda match: match.group() if match.group() == "\n" else show(match.group()), text)


def as_json_text(value: Any) -> str:
    """Write JSON in real letters; what could hurt a terminal is escaped as JSON escapes it."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return HIDDEN.sub(lambda match: match.group() if match.group() == "\n" else json.dumps(match.group())[1:-1], text)
