"""What commands share: their options, and the surroundings made from them."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click

from skillpm.cli.console import Console
from skillpm.errors import UsageError
from skillpm.events import Recorder
from skillpm.installing.plan import Wishes
from skillpm.operations.relock import Strictness
from skillpm.operations.scope import Scope, find_scope
from skillpm.operations.sync import Options
from skillpm.operations.tools import Tools
from skillpm.settings import read_settings

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One command line, understood: its printer, its tools, and the flags that say how."""

    console: Console
    tools: Tools
    flags: dict[str, Any] = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        """The scope the command works in."""
        return find_scope(self.tools.settings, user=self.flags["user"], project=self.flags["project"] or "")


def reading(function: Function) -> Function:
    """Give a command the options of one that only looks."""
    for option in reversed(
        [
            click.option("-g", "--global", "user", is_flag=True, help="Work in user scope (~/.agent-skills)."),
            click.option("--project", metavar="DIR", help="Work in the project in DIR."),
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
            click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
            click.option("-v", "--verbose", count=True, help="Say more."),
            click.option("--no-color", is_flag=True, help="No colours (also NO_COLOR)."),
        ]
    ):
        function = option(function)
    return function


def networked(function: Function) -> Function:
    """Give a command the options of one that may fetch."""
    for option in (
        click.option("--allow-insecure-host", "insecure", multiple=True, metavar="HOST", help="Allow plain http to HOST."),
        click.option("--offline", is_flag=True, help="Use only what is in the caches."),
    ):
        function = option(function)
    return reading(function)


def changing(function: Function) -> Function:
    """Give a command the options of one that changes the skills directory."""
    for option in (
        click.option("--lock-timeout", type=float, metavar="SECONDS", help="How long to wait for another skillpm."),
        click.option("--force", is_flag=True, help="Set aside what is in the way (as a backup), and go on."),
        click.option("--keep", multiple=True, metavar="NAME", help="Leave this edited skill as it is, and go on."),
        click.option("--dry-run", is_flag=True, help="Only say what would be done."),
    ):
        function = option(function)
    return networked(function)


def strict(function: Function) -> Function:
    """Give a command `--locked` and `--frozen`."""
    for option in (
        click.option("--frozen", is_flag=True, help="Use the lockfile as it is; resolve nothing."),
        click.option("--locked", is_flag=True, help="Fail if the lockfile would change."),
    ):
        function = option(function)
    return function


def call_of(flags: dict[str, Any]) -> Call:
    """Make the surroundings of a command from its flags and the environment."""
    console = Console(
        as_json=flags.get("as_json", False),
        quiet=flags.get("quiet", False),
        verbose=flags.get("verbose", 0),
        colour=not flags.get("no_color", False),
    )
    settings = read_settings(
        os.environ,
        offline=flags.get("offline", False),
        insecure_hosts=tuple(flags.get("insecure", ())),
        lock_timeout=flags.get("lock_timeout"),
    )
    return Call(console=console, tools=Tools(settings=settings, reporter=Recorder(console)), flags=flags)


def options_of(call: Call, *, bare: bool = False) -> Options:
    """Give how a changing command is to go about it. A bare one is as `--locked` in CI."""
    flags = call.flags
    locked, frozen = flags.get("locked", False), flags.get("frozen", False)
    if locked and frozen:
        raise UsageError("--locked and --frozen say different things; give one")
    if bare and call.tools.settings.ci and not frozen:
        locked = True
    return Options(
        strictness=Strictness(locked=locked, frozen=frozen),
        wishes=Wishes(keep=flags.get("keep", ()), force=flags.get("force", False), inexact=flags.get("inexact", False)),
        dry_run=flags.get("dry_run", False),
    )
