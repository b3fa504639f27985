"""Error output: message, location and hint as three lines or one JSON object; a traceback file for internal errors."""

import errno
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import click

from skillpm import __version__
from skillpm.cli.color import ColorChoice, uses_color
from skillpm.cli.console import dump_json, escape_controls
from skillpm.cli.interrupts import begin_output
from skillpm.cli.text_layout import format_columns, wrap_text
from skillpm.core.suggestions import closest_matches, did_you_mean, list_some
from skillpm.core.text import redact_credentials, sanitize
from skillpm.core.values import EMPTY_MAPPING
from skillpm.errors import (
    FIX_DOCUMENT_HINT,
    MAX_NAMES_LISTED,
    DocumentError,
    FileError,
    ManySkillsError,
    SkillpmError,
    UsageError,
)
from skillpm.files import CHECK_OWNER_HINT, is_below, read_text, translate_os_errors
from skillpm.formats.editing.key_positions import find_json_key, find_toml_key
from skillpm.settings import read_settings

INTERNAL_ERROR_EXIT_CODE = 70
MAX_SEARCHED_SIZE = 5_000_000
# What `os.path.realpath` raises for a link that another process replaced or removed in between.
REPLACED_ERRNOS = {errno.EINVAL, errno.ENOENT}
MAX_INLINE_NAMES = 8


def report_error(error: Exception, *, as_json: bool, color: ColorChoice = "auto", command: str = "skillpm") -> int:
    """Print an error and return the exit code.

    `command` is the command that was run: its help is the hint for a usage error.
    """
    if isinstance(error, SkillpmError):
        hint = error.hint or _default_hint(error, command)
        if isinstance(error, FileError) and hint.startswith(CHECK_OWNER_HINT):
            hint = f"{CHECK_OWNER_HINT}{_name_variable(error.where)}{hint.removeprefix(CHECK_OWNER_HINT)}"
        message = _format_skill_columns(error) if isinstance(error, ManySkillsError) and not as_json else error.message
        return _print_error(
            error.code,
            (message, _add_line_number(error.where) if isinstance(error, DocumentError) else error.where, hint),
            error.exit_code,
            as_json=as_json,
            color=color,
            members={"skills": [*error.skills], **error.details},
        )
    if isinstance(error, click.ClickException):
        hint = ""
        if isinstance(error, click.NoSuchOption):
            from skillpm.cli.other_tools import option_hint  # noqa: PLC0415  (only after a mistake)

            known = option_hint(error.ctx.info_name or "" if error.ctx else "", error.option_name)
            hint = known or did_you_mean(_find_similar_options(error))
            error = click.UsageError(f"no such option `{error.option_name}`", ctx=error.ctx)
        command = getattr(getattr(error, "ctx", None), "command_path", command)
        message = error.format_message().rstrip(".")
        if extra := re.fullmatch(r"Got unexpected extra (arguments?) \((.*)\)", message, re.DOTALL):
            from skillpm.cli.other_tools import argument_hint  # noqa: PLC0415  (only after a mistake)

            message = f"unexpected {extra[1]} `{extra[2]}`"
            hint = argument_hint(command.removeprefix("skillpm "), extra[2])
        message = re.sub(r"(?<!\w)'([^']*)'", r"`\1`", message[:1].lower() + message[1:])
        hint = hint or f"run `{command} --help`"
        return _print_error("usage", (message, "", hint), 2, as_json=as_json, color=color)
    if isinstance(error, OSError) and error.errno in REPLACED_ERRNOS and isinstance(error.filename, str):
        texts = ("this file, folder or link was replaced while it was read", error.filename, "run the command again")
        return _print_error("file", texts, 1, as_json=as_json, color=color)
    where = _write_traceback(error)
    message = f"internal error (this is a bug in skillpm): {sanitize(f'{type(error).__name__}: {error}')}"
    attachment = " and attach the transcript: it contains no credentials, but may contain paths" if where else ""
    hint = f"please report it{attachment}"
    return _print_error("defect", (message, where, hint), INTERNAL_ERROR_EXIT_CODE, as_json=as_json, color=color)


def to_output_error(error: OSError) -> FileError:
    """Return the error of a command whose output cannot be written, because the disk is full, for example."""
    try:
        with translate_os_errors("write the output", ""):
            raise error
    except FileError as translated:
        return translated


def _find_similar_options(error: click.NoSuchOption) -> list[str]:
    """Return the options with a name similar to the unknown one; never `--force`, since it replaces files."""
    known = {option.lstrip("-"): option for option in error.possibilities or () if option != "--force"}
    return [known[name] for name in closest_matches(error.option_name.lstrip("-"), known)]


def _add_line_number(where: str) -> str:
    """Return "FILE: KEY" as "FILE:LINE:COLUMN: KEY", which editors can open, if FILE is a local document."""
    file, separator, keys = where.partition(": ")
    find_key = find_json_key if file.endswith((".json", ".lock")) else find_toml_key if file.endswith(".toml") else None
    if find_key is None or not separator or not os.path.isabs(file):
        return where
    try:
        # The document that could not be read is still in memory, and searching takes as much a second time.
        position = find_key(read_text(file) or "", keys) if os.path.getsize(file) <= MAX_SEARCHED_SIZE else None
    except (SkillpmError, OSError):
        return where
    return f"{file}:{position[0]}:{position[1]}: {keys}" if position else where


def _default_hint(error: SkillpmError, command: str) -> str:
    """Return the hint for an error that has none of its own."""
    if isinstance(error, UsageError):
        return f"run `{command} --help`"
    if isinstance(error, DocumentError) and error.where.startswith(("https://", "http://")):
        return "report it to the maintainer of that site; nothing was changed"
    if isinstance(error, DocumentError):
        return FIX_DOCUMENT_HINT
    return ""


def _name_variable(path: str) -> str:
    """Return which variable moves the folder of a path; empty for what is in none, such as a project."""
    settings = read_settings(os.environ)
    folders = {
        "SKILLPM_CACHE_DIR": settings.cache_dir,
        "SKILLPM_HOME": settings.skills_home,
        "SKILLPM_CONFIG_DIR": settings.config_dir,
    }
    found = [name for name, folder in folders.items() if is_below(path, folder)]
    # A folder above, which had to be created: HOME is above them all.
    found = found or [name for name, folder in folders.items() if path and is_below(folder, path)]
    return f" ({found[0]} moves this folder)" if len(found) == 1 else ""


def _format_skill_columns(error: ManySkillsError) -> str:
    """Return the message with the names of all skills in columns, since a repository may contain hundreds."""
    if len(error.choices) <= MAX_INLINE_NAMES:
        return error.message
    names = [sanitize(name, 64) for name, _, _ in error.choices]
    return "\n".join([f"{error.message.rpartition(' skills: ')[0]} skills:", *format_columns(names)])


def _print_error(
    code: str,
    texts: tuple[str, str, str],
    exit_code: int,
    *,
    as_json: bool,
    color: ColorChoice,
    members: Mapping[str, Any] = EMPTY_MAPPING,
) -> int:
    """Print message, location and hint, and the skills if the message does not name them; return `exit_code`.

    `members` are the further members of the error in JSON: its `skills`, and what a class of errors adds.
    """
    skills: Sequence[str] = members.get("skills", ())
    # Messages are made without credentials; this is a second line of defense.
    message, where, hint = (redact_credentials(part) for part in texts)
    if as_json:
        value = {"code": code, "message": message, "where": where, "hint": hint, "skills": [], **members}
        begin_output()
        try:
            click.echo(dump_json({"error": value}))
        except BrokenPipeError:  # its reader has ended
            return exit_code
        except (OSError, ValueError):  # stdout is closed or full: then as text
            pass
        else:
            return exit_code
    is_colored = uses_color(sys.stderr, color)
    names = "" if all(_is_named(name, message) for name in skills) else list_some(skills, MAX_NAMES_LISTED)
    for label, text in (("error:", message), ("  skills:", names), ("  where:", where), ("  hint:", hint)):
        if text:
            first, *rest = wrap_text(f"{label} {escape_controls(text)}", indent=len(label) + 1)
            if is_colored and label == "error:":
                first = click.style(label, fg="red", bold=True) + first.removeprefix(label)
            with suppress(OSError, ValueError):
                click.echo("\n".join([first, *rest]), err=True, color=is_colored)
    return exit_code


def _is_named(name: str, message: str) -> bool:
    """Return whether a message names a skill, as a word that is not a part of a URL."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.sub(r"\S+://\S+", "", message)) is not None


def _write_traceback(error: Exception) -> str:
    try:
        with tempfile.NamedTemporaryFile("w", prefix="skillpm-defect-", suffix=".txt", delete=False) as file:
            file.write(f"skillpm {__version__}, Python {sys.version}\n")
            file.write(redact_credentials("".join(traceback.format_exception(error))))
            return file.name
    except OSError:
        return ""
