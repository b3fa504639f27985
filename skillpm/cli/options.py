"""Options that all commands share, and the `Invocation` created from them."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from skillpm.cli.console import Console
from skillpm.core.values import Value
from skillpm.errors import UsageError
from skillpm.events import Recorder
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope, find_scope
from skillpm.settings import read_settings

Function = TypeVar("Function", bound=Callable[..., Any])


def _exit_on_signals() -> None:
    """Exit through `SystemExit` on SIGTERM and SIGHUP, so that git processes are ended and staging is removed."""
    import signal  # noqa: PLC0415  (only commands that may start a process)

    def exit_on_signal(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), exit_on_signal)


CONFLICTING_SCOPES = "--global and --project cannot be used together"


class Invocation(Value):
    """A parsed command line: console, context, and the values of its options."""

    console: Console
    context: Context
    flags: Mapping[str, Any]

    @property
    def scope(self) -> Scope:
        """The scope the command works in. Raises `UsageError` if both --global and --project were given."""
        user, project = self.flags["user"], self.flags["project"] or ""
        if user and project:
            raise UsageError(CONFLICTING_SCOPES)
        return find_scope(self.context.settings, user=user, project=project)


def output_options(function: Function) -> Function:
    """Add the options for output: the only ones of a command without a scope."""
    for option in reversed(
        [
            click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
            click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
            click.option("-v", "--verbose", count=True, help="Log network requests (-vv: also git commands)."),
            click.option("--no-color", is_flag=True, help="Disable colors (also: NO_COLOR)."),
        ]
    ):
        function = option(function)
    return function


def scope_options(function: Function) -> Function:
    """Add the options that select a scope, and those for output."""
    for option in (
        click.option("--project", metavar="DIR", help="Use the project in DIR."),
        click.option("-g", "--global", "user", is_flag=True, help="Use the user scope (~/.agent-skills)."),
    ):
        function = option(function)
    return output_options(function)


def create_invocation(flags: dict[str, Any]) -> Invocation:
    """Create the invocation of a command from its options and the environment."""
    if "offline" in flags:
        _exit_on_signals()
    console = Console(
        as_json=flags.get("as_json", False),
        quiet=flags.get("quiet", False),
        verbose=flags.get("verbose", 0),
        color=not flags.get("no_color", False),
    )
    settings = read_settings(
        os.environ,
        offline=flags.get("offline", False),
        insecure_hosts=tuple(flags.get("insecure", ())),
        lock_timeout=flags.get("lock_timeout"),
        exclude_newer=flags.get("exclude_newer"),
    )
    return Invocation(console=console, context=Context(settings=settings, reporter=Recorder(console)), flags=flags)
