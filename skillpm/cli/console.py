"""Console output: data goes to stdout, diagnostics go to stderr. No information is conveyed by color alone."""

import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import click

from skillpm.cli.color import STYLES, ColorChoice, Role, uses_color
from skillpm.cli.task_progress import TaskProgress
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import HIDDEN, redact_credentials, sanitize


class Console:
    """Output of a command. Implements `Reporter`: shows progress and warnings."""

    def __init__(
        self, *, as_json: bool = False, quiet: bool = False, verbose: int = 0, color: ColorChoice = "auto"
    ) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose
        self.color = color
        self.uses_color = uses_color(sys.stdout, color)
        self.uses_stderr_color = uses_color(sys.stderr, color)
        self.is_terminal = sys.stdout.isatty()
        hides_progress = as_json or quiet or verbose
        self._progress = None if hides_progress else TaskProgress(is_terminal=sys.stderr.isatty())
        # What was printed so far: the descriptor, 1 or 2, and the text.
        self.transcript: list[tuple[int, str]] = []

    def print_json(self, value: Any) -> None:
        """Print a value as JSON; nothing else may be printed to stdout."""
        from skillpm.cli.interrupts import begin_output  # noqa: PLC0415  (only with --json)

        text = dump_json(value)
        begin_output()
        self._print(text)

    def print_line(self, text: str = "", **style: Any) -> None:
        """Print a line to stdout; `style` is what `click.style` takes."""
        text = escape_controls(text)
        self._print(click.style(text, **style) if style and self.uses_color else text)

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print many unstyled lines to stdout."""
        self._print(escape_controls("\n".join(lines)))

    def paint(self, text: str, role: Role) -> str:
        """Return text as it is displayed in a role: escaped and styled, or unchanged if stdout has no color."""
        if not self.uses_color:
            return text
        style = STYLES[role]
        return click.style(escape_controls(text), **style) if style and text else escape_controls(text)

    def print_painted(self, lines: Iterable[str]) -> None:
        """Print many lines, each part of which was returned by `paint`, to stdout."""
        text = "\n".join(lines)
        self._print(text if self.uses_color else escape_controls(text))

    def print_wrapped(self, text: str, *, indent: int = 2, **style: Any) -> None:
        """Print a line to stdout, wrapped in a terminal."""
        self.print_line("\n".join(wrap_text(text, indent=indent, is_stdout=True)), **style)

    def print_raw(self, text: str) -> None:
        """Print text for an agent unchanged, tabs included; it was sanitized when it was rendered."""
        if text:
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
            sys.stdout.flush()

    def print_message(self, text: str, *, indent: int = 2) -> None:
        """Print a message to stderr, wrapped in a terminal, unless `--quiet` or `--json` is set."""
        if not self.quiet and not self.as_json:
            self._stop_progress()
            for line in wrap_text(escape_controls(redact_credentials(text)), indent=indent):
                self._print(line, is_error=True)

    def start_task(self, what: str, names: Sequence[str] = ()) -> None:
        """Report that a task began: a spinner in a terminal; elsewhere a line, once it takes long or with `-v`."""
        if self.verbose:
            click.echo(sanitize(what), err=True)
        elif self._progress is not None:
            self._progress.start_task(what, names)

    def update_task(self, what: str, phase: str, received: int = 0, total: int = 0) -> None:
        """Report the progress of a task."""
        if self._progress is not None:
            self._progress.update_task(what, phase, received, total)

    def finish_task(self, what: str) -> None:
        """Report that a task ended."""
        if self._progress is not None:
            self._progress.finish_task(what)

    def warn(self, message: str) -> None:
        """Print a warning to stderr; with `--json`, warnings are part of the result instead."""
        if not self.as_json and not self.quiet:
            self._stop_progress()
            text = "\n".join(wrap_text(f"warning: {sanitize(message, 1000)}", indent=9))
            label = click.style("warning:", fg="yellow", bold=True) if self.uses_stderr_color else "warning:"
            self._print(label + text.removeprefix("warning:"), is_error=True)

    def log_always(self, message: str) -> None:
        """Print a line of a server's log to stderr."""
        with suppress(OSError):  # a server outlives the terminal that it was started in
            click.echo(sanitize(message, 500), err=True)

    def log_verbose(self, message: str) -> None:
        """Print a message to stderr if `-v` is set."""
        if self.verbose:
            click.echo(sanitize(message, 500), err=True)

    def log_debug(self, message: str) -> None:
        """Print a message to stderr if `-vv` is set."""
        if self.verbose > 1:
            click.echo(sanitize(message, 500), err=True)

    def _print(self, text: str, *, is_error: bool = False) -> None:
        self.transcript.append((2 if is_error else 1, f"{text}\n"))
        click.echo(text, err=is_error, color=self.uses_stderr_color if is_error else self.uses_color)

    def _stop_progress(self) -> None:
        if self._progress is not None:
            self._progress.stop()


# The first bytes, in UTF-8, of hidden characters that `isprintable` accepts: joiners of accents, blank letters and
# variation selectors.
PRINTABLE_HIDDEN = (
    *(b"\xcd\x8f", b"\xe1\x85", b"\xe1\x9e", b"\xe1\xa0", b"\xe2\xa0\x80", b"\xe3\x85\xa4", b"\xef\xb8"),
    *(b"\xef\xbe\xa0", b"\xf0\x93\x90", b"\xf3\xa0"),
)


def escape_controls(text: str) -> str:
    """Return text with control and invisible characters escaped, other than line breaks."""
    # `list` passes 10,000 lines as one text; these checks are much faster than the regular expression.
    if text.replace("\n", " ").isprintable():
        data = text.encode()
        if text.isascii() or not any(prefix in data for prefix in PRINTABLE_HIDDEN):
            return text
    return HIDDEN.sub(lambda match: match.group() if match.group() == "\n" else sanitize(match.group()), text)


def dump_json(value: Any) -> str:
    """Return a value as indented JSON in UTF-8; characters that could harm a terminal are escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return HIDDEN.sub(lambda match: match.group() if match.group() == "\n" else json.dumps(match.group())[1:-1], text)
