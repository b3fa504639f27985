"""What commands share: their options, and the surroundings made from them."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from skillpm.cli.console import Console
from skillpm.cli.scope_hints import add_scope_flags, format_scope_flags
from skillpm.core.values import Value
from skillpm.errors import UsageError
from skillpm.events import Recorder
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope, find_scope
from skillpm.settings import read_settings

Function = TypeVar("Function", bound=Callable[..., Any])


def _exit_on_signals() -> None:
    """Let a command that is told to end (SIGTERM, SIGHUP) end its git processes and take its staging away first."""
    import signal  # noqa: PLC0415  (only commands that may start a process)

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)


class Invocation(Value):
    """One command line, understood: its printer, its tools, and the flags that say how."""

    console: Console
    context: Context
    flags: Mapping[str, Any]

    @property
    def scope(self) -> Scope:
        """The scope the command works in. Raises `UsageError` where two are named."""
        user, project = self.flags["user"], self.flags["project"] or ""
        if user and project:
            raise UsageError("--global and --project name two scopes; give one")
        return find_scope(self.context.settings, user=user, project=project)


def output_options(function: Function) -> Function:
    """Give a command the options that say how it speaks: all that one has which knows no scope."""
    for option in reversed(
        [
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
            click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
            click.option("-v", "--verbose", count=True, help="Say more: each call to a network; -vv: each of git."),
            click.option("--no-color", is_flag=True, help="No colours (also NO_COLOR)."),
        ]
    ):
        function = option(function)
    return function


def scope_options(function: Function) -> Function:
    """Give a command the options of one that looks into a scope."""
    for option in (
        click.option("--project", metavar="DIR", help="Work in the project in DIR."),
        click.option("-g", "--global", "user", is_flag=True, help="Work in user scope (~/.agent-skills)."),
    ):
        function = option(function)
    return output_options(function)


def create_invocation(flags: dict[str, Any]) -> Invocation:
    """Make the surroundings of a command from its flags and the environment."""
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
    scope = format_scope_flags(user=flags.get("user", False), project=flags.get("project") or "")
    recorder = Recorder(console, lambda message: add_scope_flags(message, scope))
    return Invocation(console=console, context=Context(settings=settings, reporter=recorder), flags=flags)
