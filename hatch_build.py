"""Adds man pages and shell completions to the wheel, made from the commands at build time."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import click
from click.shell_completion import get_completion_class

from skillpm import __version__
from skillpm.cli.help import prepare_help
from skillpm.cli.main import COMMANDS, COMPLETION_VARIABLE, cli, load_command

COMPLETIONS = {
    "bash": "bash-completion/completions/skillpm",
    "zsh": "zsh/site-functions/_skillpm",
    "fish": "fish/vendor_completions.d/skillpm.fish",
}


class DataHook(BuildHookInterface[Any]):
    """Writes the files into a temporary folder, and maps them to `share/` of the environment."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel; an editable one needs none."""
        if version == "editable":
            return
        folder = self.folder = tempfile.TemporaryDirectory()  # removed with this object
        for number, (path, text) in enumerate(shared_files()):
            source = os.path.join(folder.name, str(number))
            with open(source, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            build_data["shared_data"][source] = f"share/{path}"


def shared_files() -> Iterator[tuple[str, str]]:
    """Yield the files for `share/`, each with its text."""
    yield "man/man1/agent-skillpm.1", ".so man1/skillpm.1\n"
    yield "man/man1/skillpm.1", man_page(cli, "skillpm", cli.help or "")
    for name, summary in COMMANDS.items():
        yield from _command_pages(load_command(name), f"skillpm {name}", summary)
    for shell, path in COMPLETIONS.items():
        kind = get_completion_class(shell)
        if kind is not None:
            completion = kind(cli, {}, "skillpm", COMPLETION_VARIABLE)
            yield path, completion.source_template % completion.source_vars()


def _command_pages(command: click.Command, path: str, summary: str) -> Iterator[tuple[str, str]]:
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from _command_pages(each, f"{path} {name}", each.get_short_help_str(200))
    prepare_help(command, path, is_short=False)
    yield f"man/man1/{path.replace(' ', '-')}.1", man_page(command, path, summary)


def man_page(command: click.Command, path: str, summary: str) -> str:
    """Return the man page of a command, which has the text of its `--help`."""
    page = ManPage()
    name = path.replace(" ", "-")
    page.write(f'.TH "{name.upper()}" 1 "" "skillpm {__version__}" "skillpm"\n.SH NAME\n')
    page.write(f"{_escape(name)} \\- {_escape(summary.rstrip('.'))}\n")
    command.format_help(click.Context(command, info_name=path, **cli.context_settings), page)
    return page.getvalue()


class ManPage(click.HelpFormatter):
    """Writes a help in the language of man pages, man(7)."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:  # noqa: ARG002  (click's)
        """Write the usage line, after which the description begins."""
        self.write(f".SH SYNOPSIS\n.B {_escape(prog)}\n{_escape(args)}\n.SH DESCRIPTION\n")

    def write_heading(self, heading: str) -> None:
        """Begin a section."""
        self.write(f".SH {_escape(heading.upper())}\n")

    def write_paragraph(self) -> None:
        """Write nothing: `write_text` begins a paragraph."""

    def write_text(self, text: str) -> None:
        """Write paragraphs; one after a backspace keeps its lines, and a title that it begins with begins a section."""
        for paragraph in text.split("\n\n"):
            if not paragraph.startswith("\b"):
                self.write(f".PP\n{_escape(paragraph)}\n")
                continue
            title, _, lines = paragraph.removeprefix("\b\n").partition("\n")
            self.write_heading(title.rstrip(":"))
            self.write(f".nf\n{_escape(lines)}\n.fi\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:  # noqa: ARG002
        """Write a list of terms, each with its text."""
        for term, text in rows:
            self.write(f".TP\n\\fB{_escape(term.strip())}\\fR\n{_escape(text)}\n")


def _escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in text.split("\n"))
