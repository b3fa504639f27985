"""Options that several commands share, and the `Invocation` created from them."""

import math
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


class AdvancedOption(click.Option):
    """An option that `--help` lists, and `-h` does not."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option's name and help; None for `-h`."""
        return None if is_short_help(ctx) else super().get_help_record(ctx)


def is_short_help(ctx: click.Context) -> bool:
    """Return whether the help was asked for with `-h`; `obj` are the words of the command line."""
    return ctx.obj is not None and "--help" not in ctx.obj


def advanced_option(*names: str, **settings: Any) -> Decorator:
    """Return a decorator that adds an option which `-h` leaves out."""
    return click.option(*names, cls=AdvancedOption, **settings)


def hide_options(*names: str) -> Callable[[click.Command], click.Command]:
    """Return a decorator of a command that leaves options out of its help: they have no effect there.

    They are accepted all the same, since earlier versions listed them.
    """

    def hide(command: click.Command) -> click.Command:
        for option in command.params:
            if isinstance(option, click.Option) and option.name in names:
                option.hidden = True
        return command

    return hide


class NumberParam(click.ParamType[float]):
    """A number of seconds or days, 0 or more: unlike `click.FloatRange`, it refuses `nan` and `inf`."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; raise `BadParameter` for anything else."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number >= 0):
            self.fail(f"`{str(value)[:40]}` is not a number of 0 or more", param, ctx)
        return number


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
    advanced_option("-q", "--quiet", is_flag=True, help="Print errors only."),
    advanced_option("-v", "--verbose", count=True, help="Log network requests (-vv: also git commands)."),
    advanced_option(
        "--color",
        type=click.Choice(COLOR_CHOICES),
        default="auto",
        metavar="WHEN",
        help="Use colors: auto (in a terminal), always or never [default: auto].",
    ),
    advanced_option("--no-color", is_flag=True, help="Disable colors: same as --color never."),
    _pass_invocation,
)
scope_options = combine_options(
    output_options,
    click.option("-g", "--global", "user", is_flag=True, help="Use the user scope (~/.agent-skills)."),
    click.option("--project", metavar="DIR", multiple=True, callback=_read_project, help="Use the project in DIR."),
)
NUMBER = NumberParam()
lock_timeout_option = advanced_option(
    "--lock-timeout",
    type=NUMBER,
    metavar="SECONDS",
    help="Wait at most SECONDS for another skillpm process to finish [default: 60].",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be done, without doing it.")
insecure_host_option = advanced_option(
    "--allow-insecure-host", "insecure", multiple=True, metavar="HOST", help="Allow plain HTTP to HOST (repeatable)."
)
# For commands that publish skills.
sign_option = click.option(
    "--sign", metavar="KEY", default="", help="Sign each skill with the private key in a PEM file."
)
# For commands that select versions.
exclude_newer_option = advanced_option(
    "--exclude-newer",
    metavar="WHEN",
    help="Ignore versions newer than an age or date: '7 days', 12h, 2026-01-31, or a timestamp.",
)
network_options = combine_options(
    advanced_option("--offline", is_flag=True, help="Use only cached content; make no network requests."),
    insecure_host_option,
)
fetch_options = combine_options(scope_options, network_options)
# For commands that install or use new content.
allow_option = click.option(
    "--allow",
    "allowed_rules",
    multiple=True,
    metavar="RULE",
    help="Ignore this audit rule for this command (repeatable).",
)
yes_option = advanced_option(
    "-y", "--yes", is_flag=True, help="Accept a repository of more than 200 files without asking."
)
# For commands that may leave skills of a collection out.
strict_option = advanced_option(
    "--strict", is_flag=True, help="Exit with 1 if a skill of a collection was left out, or stays as it is locked."
)
# For commands that change the skills directory.
change_options = combine_options(
    fetch_options,
    dry_run_option,
    allow_option,
    click.option("--keep", multiple=True, metavar="NAME", help="Keep this edited skill as it is (repeatable)."),
    click.option("--force", is_flag=True, help="Back up conflicting files, and replace or remove them."),
    lock_timeout_option,
)
# For commands that install new content.
merge_options = combine_options(
    click.option("--merge", is_flag=True, help="Merge your edits into the new version; stop on conflict."),
    advanced_option("--conflicts", is_flag=True, help="With --merge, leave conflict markers instead of stopping."),
)


def make_lock_policy_options(add_option: Callable[..., Decorator]) -> Decorator:
    """Return a decorator that adds the options which decide about the lockfile, ordinary or advanced ones."""
    return combine_options(
        add_option("--locked", is_flag=True, help="Fail if the lockfile is not up to date."),
        add_option("--frozen", is_flag=True, help="Use the lockfile as is, without resolving."),
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
