"""How failures are told: three lines to a person, one object to a program, a transcript for a defect of ours."""

import json
import os
import sys
import tempfile
import traceback

import click

from skillpm import __version__
from skillpm.documents.text import HIDDEN, show
from skillpm.errors import SkillpmError, UsageError

DEFECT = 70


def tell(error: Exception, *, as_json: bool, command: str = "skillpm") -> int:
    """Tell an error; give the exit code. `command` is what was called, for whoever called it wrongly."""
    if isinstance(error, SkillpmError):
        hint = error.hint or (f"{command} --help" if isinstance(error, UsageError) else "")
        return _told(error.code, error.message, error.where, hint, error.exit_code, as_json=as_json)
    if isinstance(error, click.ClickException):
        command = getattr(getattr(error, "ctx", None), "command_path", "skillpm")
        hint = f"{command} --help"
        return _told("usage", error.format_message().rstrip("."), "", hint, 2, as_json=as_json)
    where = _transcript(error)
    said = show(f"{type(error).__name__}: {error}")
    message = f"this is a defect of skillpm, not of yours ({said})"
    hint = "please report it with that file; it holds no credentials but may hold paths"
    return _told("defect", message, where, hint, DEFECT, as_json=as_json)


def _told(code: str, message: str, where: str, hint: str, exit_code: int, *, as_json: bool) -> int:
    if as_json:
        value = {"code": code, "message": message, "where": where, "hint": hint}
        click.echo(json.dumps({"error": value}, indent=2, ensure_ascii=False))
        return exit_code
    style = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    click.echo(f"{click.style('error:', fg='red', bold=True) if style else 'error:'} {_safe(message)}", err=True)
    if where:
        click.echo(f"  where: {_safe(where)}", err=True)
    if hint:
        click.echo(f"  try: {_safe(hint)}", err=True)
    return exit_code


def _safe(text: str) -> str:
    """Keep line breaks of ours; escape what could move the cursor or hide."""
    return "\n".join(HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", line) for line in text.split("\n"))


def _transcript(error: Exception) -> str:
    try:
        with tempfile.NamedTemporaryFile("w", prefix="skillpm-defect-", suffix=".txt", delete=False) as file:
            file.write(f"skillpm {__version__}, Python {sys.version}\n")
            file.write("".join(traceback.format_exception(error)))
            return file.name
    except OSError:
        return ""
