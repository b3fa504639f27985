"""How failures are told: three lines to a person, one object to a program, a transcript for a defect of ours."""

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress

import click

from skillpm import __version__
from skillpm.cli.console import dump_json, escape_controls
from skillpm.cli.scope_hints import add_scope_flags, find_scope_flags
from skillpm.cli.text_layout import format_columns, wrap_text
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import redact_credentials, sanitize
from skillpm.errors import DocumentError, FileError, ManySkillsError, SkillpmError, UsageError
from skillpm.files import read_text, translate_os_errors
from skillpm.formats.key_positions import find_json_key, find_toml_key

INTERNAL_ERROR_EXIT_CODE = 70
MAX_INLINE_NAMES = 8


def report_error(
    error: Exception, *, as_json: bool, color: bool = True, command: str = "skillpm", arguments: Sequence[str] = ()
) -> int:
    """Tell an error; give the exit code. `command` is what was called, for whoever called it wrongly; `words` is all
    that was typed, so that the commands which the letter names work in the same scope.
    """
    if isinstance(error, SkillpmError):
        hint = add_scope_flags(error.hint, find_scope_flags(list(arguments))) or _default_hint(error, command)
        message = _format_skill_columns(error) if isinstance(error, ManySkillsError) and not as_json else error.message
        return _print_error(
            error.code,
            (message, _add_line_number(error.where) if isinstance(error, DocumentError) else error.where, hint),
            error.exit_code,
            as_json=as_json,
            color=color,
        )
    if isinstance(error, click.ClickException):
        if isinstance(error, click.NoSuchOption):
            error = click.NoSuchOption(error.option_name, possibilities=_find_similar_options(error), ctx=error.ctx)
        command = getattr(getattr(error, "ctx", None), "command_path", command)
        hint = f"{command} --help"
        return _print_error("usage", (error.format_message().rstrip("."), "", hint), 2, as_json=as_json, color=color)
    where = _write_traceback(error)
    said = sanitize(f"{type(error).__name__}: {error}")
    message = f"this is a defect of skillpm, not of yours ({said})"
    hint = "please report it with that file; it holds no credentials but may hold paths"
    return _print_error("defect", (message, where, hint), INTERNAL_ERROR_EXIT_CODE, as_json=as_json, color=color)


def to_output_error(error: OSError) -> FileError:
    """Give the error of a command whose output does not get out: a full disk that it goes to."""
    try:
        with translate_os_errors("write the output", ""):
            raise error
    except FileError as refused:
        return refused


def _find_similar_options(error: click.NoSuchOption) -> list[str]:
    """Give the options whose name is nearly what was typed; never `--force`, which nobody should type by a guess."""
    known = {option.lstrip("-"): option for option in error.possibilities or () if option != "--force"}
    return [known[name] for name in closest_matches(error.option_name.lstrip("-"), known)]


def _add_line_number(where: str) -> str:
    """Give the place with line and column, where it is a key in a document of this machine: editors go there."""
    file, found, keys = where.partition(": ")
    look = find_json_key if file.endswith((".json", ".lock")) else find_toml_key if file.endswith(".toml") else None
    if look is None or not found or not os.path.isabs(file):
        return where
    try:
        place = look(read_text(file) or "", keys)
    except SkillpmError:
        return where
    return f"{file}:{place[0]}:{place[1]}: {keys}" if place else where


def _default_hint(error: SkillpmError, command: str) -> str:
    """Give the way on that an error of its kind has where it names none of its own."""
    if isinstance(error, UsageError):
        return f"{command} --help"
    if isinstance(error, DocumentError) and error.where.startswith(("https://", "http://")):
        return "tell whoever keeps that address; nothing was changed here"
    if isinstance(error, DocumentError):
        return "mend that place by hand, or take the file from version control"
    return ""


def _format_skill_columns(error: ManySkillsError) -> str:
    """Give the message with every name, in as many columns as fit: a repository may hold hundreds."""
    if len(error.skills) <= MAX_INLINE_NAMES:
        return error.message
    names = [sanitize(name, 64) for name, _, _ in error.skills]
    return "\n".join([f"{error.message.rpartition(' skills: ')[0]} skills:", *format_columns(names)])


def _print_error(code: str, texts: tuple[str, str, str], exit_code: int, *, as_json: bool, color: bool) -> int:
    """Print message, place and way on; give the exit code back."""
    # Whoever made the message should have hidden credentials; this is the last door they could leave by.
    message, where, hint = (redact_credentials(part) for part in texts)
    if as_json:
        value = {"code": code, "message": message, "where": where, "hint": hint}
        with suppress(OSError, ValueError):  # nobody hears it; the exit code says it
            click.echo(dump_json({"error": value}))
        return exit_code
    style = color and sys.stderr.isatty() and "NO_COLOR" not in os.environ
    for word, text in (("error:", message), ("  where:", where), ("  try:", hint)):
        if text:
            lead, *rest = wrap_text(f"{word} {escape_controls(text)}", indent=len(word) + 1)
            if style and word == "error:":
                lead = click.style(word, fg="red", bold=True) + lead.removeprefix(word)
            with suppress(OSError, ValueError):
                click.echo("\n".join([lead, *rest]), err=True)
    return exit_code


def _write_traceback(error: Exception) -> str:
    try:
        with tempfile.NamedTemporaryFile("w", prefix="skillpm-defect-", suffix=".txt", delete=False) as file:
            file.write(f"skillpm {__version__}, Python {sys.version}\n")
            file.write(redact_credentials("".join(traceback.format_exception(error))))
            return file.name
    except OSError:
        return ""
