"""Options that all commands share, and the `Invocation` created from them."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, TextIO

import click

from skillpm.cli.color import COLOR_CHOICES
from skillpm.cli.console import Console
from skillpm.core.values import Value
from skillpm.errors import UsageError
from skillpm.events import Recorder
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope, find_scope
from skillpm.settings import read_settings

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


def _exit_on_signals() -> None:
    """Exit through `SystemExit` on SIGTERM and SIGHUP, so that git processes are ended and staging is removed.

    With `--json` they are handled already, and a process that was started with `nohup` goes on ignoring SIGHUP.
    """
    import signal  # noqa: PLC0415  (only commands that may start a process)

    def exit_on_signal(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), exit_on_signal)


def _read_project(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Return the only value of --project: click would take the last of several, and leave the others out."""
    if len(values) > 1:
        raise UsageError("--project can be given only once", hint="run the command once for each project")
    return values[0] if values else None


def read_scope_flags(flags: Mapping[str, Any]) -> tuple[bool, str]:
    """Return --global and --project. Raises `UsageError` if both were given."""
    user, project = flags["user"], flags["project"] or ""
    if user and project:
        raise UsageError("--global and --project cannot be used together")
    return user, project


def create_console(flags: Mapping[str, Any]) -> Console:
    """Create the console of a command from the options for output."""
    return Console(
        as_json=flags["as_json"],
        quiet=flags["quiet"],
        verbose=flags["verbose"],
        color="never" if flags["no_color"] else flags["color"],
    )


class Invocation(Value):
    """A parsed command line: console, session, and the values of its options."""

    console: Console
    session: Session
    flags: Mapping[str, Any]

    @property
    def scope(self) -> Scope:
        """The scope the command works in. Raises `UsageError` if both --global and --project were given."""
        user, project = read_scope_flags(self.flags)
        return find_scope(self.session.settings, user=user, project=project)

    @property
    def project(self) -> Project:
        """The project that the command works on. Raises as `scope` does."""
        return Project(self.scope, self.session)

    def can_ask(self, output: TextIO | None = None) -> bool:
        """Return whether a person can answer: with terminals on both ends, and neither in CI nor with `--json`."""
        is_silent = self.console.as_json or self.session.settings.ci
        return not is_silent and sys.stdin.isatty() and (output or sys.stdout).isatty()


def combine_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds several options; the help lists them in this order."""

    def add_options(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add_options


def _pass_invocation(function: Function) -> Function:
    """Call a function that has a parameter `call` with an `Invocation` of the options that are not its parameters."""
    parameters = {*signature(function).parameters}

    @wraps(function)
    def run(**flags: Any) -> Any:
        own = {name: flags.pop(name) for name in parameters - {"call"}}
        return function(create_invocation(flags), **own)

    return run if "call" in parameters else function


# The only options of a command without a scope.
output_options = combine_options(
    click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
    click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
    click.option("-v", "--verbose", count=True, help="Log network requests (-vv: also git commands)."),
    click.option(
        "--color",
        type=click.Choice(COLOR_CHOICES),
        default="auto",
        metavar="WHEN",
        help="Use colors: auto (in a terminal), always or never [default: auto].",
    ),
    click.option("--no-color", is_flag=True, help="Disable colors: same as --color never."),
    _pass_invocation,
)
scope_options = combine_options(
    output_options,
    click.option("-g", "--global", "user", is_flag=True, help="Use the user scope (~/.agent-skills)."),
    click.option("--project", metavar="DIR", multiple=True, callback=_read_project, help="Use the project in DIR."),
)


def create_invocation(flags: dict[str, Any]) -> Invocation:
    """Create the invocation of a command from its options and the environment."""
    if "offline" in flags:
        _exit_on_signals()
    console = create_console(flags)
    settings = read_settings(
        os.environ,
        offline=flags.get("offline", False),
        insecure_hosts=tuple(flags.get("insecure", ())),
        lock_timeout=flags.get("lock_timeout"),
        exclude_newer=flags.get("exclude_newer"),
    )
    return Invocation(console=console, session=Session(settings=settings, reporter=Recorder(console)), flags=flags)
