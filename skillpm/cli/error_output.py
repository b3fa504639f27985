"""How failures are told: three lines to a person, one object to a program, a transcript for a defect of ours."""

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress

import click

from skillpm import __version__
from skillpm.cli.console import as_json_text, plain
from skillpm.cli.scope_hints import pointed, scope_in
from skillpm.cli.text_layout import columns, wrapped
from skillpm.core.suggestions import near
from skillpm.core.text import show, without_secrets
from skillpm.errors import DocumentError, FileError, ManySkillsError, SkillpmError, UsageError
from skillpm.files import read_text, told
from skillpm.formats.key_positions import place_in_json, place_in_toml

DEFECT = 70
FEW = 8


def tell(
    error: Exception, *, as_json: bool, colour: bool = True, command: str = "skillpm", words: Sequence[str] = ()
) -> int:
    """Tell an error; give the exit code. `command` is what was called, for whoever called it wrongly; `words` is all
    that was typed, so that the commands which the letter names work in the same scope.
    """
    if isinstance(error, SkillpmError):
        hint = pointed(error.hint, scope_in(list(words))) or _usual_hint(error, command)
        message = _in_columns(error) if isinstance(error, ManySkillsError) and not as_json else error.message
        return _told(
            error.code,
            (message, _with_line(error.where) if isinstance(error, DocumentError) else error.where, hint),
            error.exit_code,
            as_json=as_json,
            colour=colour,
        )
    if isinstance(error, click.ClickException):
        if isinstance(error, click.NoSuchOption):
            error = click.NoSuchOption(error.option_name, possibilities=_nearly(error), ctx=error.ctx)
        command = getattr(getattr(error, "ctx", None), "command_path", command)
        hint = f"{command} --help"
        return _told("usage", (error.format_message().rstrip("."), "", hint), 2, as_json=as_json, colour=colour)
    where = _transcript(error)
    said = show(f"{type(error).__name__}: {error}")
    message = f"this is a defect of skillpm, not of yours ({said})"
    hint = "please report it with that file; it holds no credentials but may hold paths"
    return _told("defect", (message, where, hint), DEFECT, as_json=as_json, colour=colour)


def unheard(error: OSError) -> FileError:
    """Give the error of a command whose output does not get out: a full disk that it goes to."""
    try:
        with told("write the output", ""):
            raise error
    except FileError as refused:
        return refused


def _nearly(error: click.NoSuchOption) -> list[str]:
    """Give the options whose name is nearly what was typed; never `--force`, which nobody should type by a guess."""
    known = {option.lstrip("-"): option for option in error.possibilities or () if option != "--force"}
    return [known[name] for name in near(error.option_name.lstrip("-"), known)]


def _with_line(where: str) -> str:
    """Give the place with line and column, where it is a key in a document of this machine: editors go there."""
    file, found, keys = where.partition(": ")
    look = place_in_json if file.endswith((".json", ".lock")) else place_in_toml if file.endswith(".toml") else None
    if look is None or not found or not os.path.isabs(file):
        return where
    try:
        place = look(read_text(file) or "", keys)
    except SkillpmError:
        return where
    return f"{file}:{place[0]}:{place[1]}: {keys}" if place else where


def _usual_hint(error: SkillpmError, command: str) -> str:
    """Give the way on that an error of its kind has where it names none of its own."""
    if isinstance(error, UsageError):
        return f"{command} --help"
    if isinstance(error, DocumentError) and error.where.startswith(("https://", "http://")):
        return "tell whoever keeps that address; nothing was changed here"
    if isinstance(error, DocumentError):
        return "mend that place by hand, or take the file from version control"
    return ""


def _in_columns(error: ManySkillsError) -> str:
    """Give the message with every name, in as many columns as fit: a repository may hold hundreds."""
    if len(error.offers) <= FEW:
        return error.message
    names = [show(name, 64) for name, _, _ in error.offers]
    return "\n".join([f"{error.message.rpartition(' skills: ')[0]} skills:", *columns(names)])


def _told(code: str, letter: tuple[str, str, str], exit_code: int, *, as_json: bool, colour: bool) -> int:
    """Print message, place and way on; give the exit code back."""
    # Whoever made the message should have hidden credentials; this is the last door they could leave by.
    message, where, hint = (without_secrets(part) for part in letter)
    if as_json:
        value = {"code": code, "message": message, "where": where, "hint": hint}
        with suppress(OSError, ValueError):  # nobody hears it; the exit code says it
            click.echo(as_json_text({"error": value}))
        return exit_code
    style = colour and sys.stderr.isatty() and "NO_COLOR" not in os.environ
    for word, text in (("error:", message), ("  where:", where), ("  try:", hint)):
        if text:
            lead, *rest = wrapped(f"{word} {plain(text)}", indent=len(word) + 1)
            if style and word == "error:":
                lead = click.style(word, fg="red", bold=True) + lead.removeprefix(word)
            with suppress(OSError, ValueError):
                click.echo("\n".join([lead, *rest]), err=True)
    return exit_code


def _transcript(error: Exception) -> str:
    try:
        with tempfile.NamedTemporaryFile("w", prefix="skillpm-defect-", suffix=".txt", delete=False) as file:
            file.write(f"skillpm {__version__}, Python {sys.version}\n")
            file.write(without_secrets("".join(traceback.format_exception(error))))
            return file.name
    except OSError:
        return ""
