"""Options of the commands that fetch skills or change the skills directory."""

from shlex import join

import click

from skillpm.cli.option_types import NUMBER
from skillpm.cli.options import Function, Invocation, scope_options
from skillpm.errors import UsageError
from skillpm.installer.actions import InstallOptions
from skillpm.operations.pipeline.change import ChangeOptions
from skillpm.operations.pipeline.lock_resolution import LockPolicy

lock_timeout_option = click.option(
    "--lock-timeout",
    type=NUMBER,
    metavar="SECONDS",
    help="Wait at most SECONDS for another skillpm to finish [default: 60].",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be done, without doing it.")
insecure_host_option = click.option(
    "--allow-insecure-host", "insecure", multiple=True, metavar="HOST", help="Allow plain HTTP to HOST (repeatable)."
)


def fetch_options(function: Function) -> Function:
    """Add the options for fetching, for a scope and for output."""
    return scope_options(network_options(function))


def network_options(function: Function) -> Function:
    """Add the options for network access."""
    for option in (
        insecure_host_option,
        click.option("--offline", is_flag=True, help="Use only cached content; make no network requests."),
    ):
        function = option(function)
    return function


def change_options(function: Function) -> Function:
    """Add the options of commands that change the skills directory, and those for fetching."""
    for option in (
        lock_timeout_option,
        click.option("--force", is_flag=True, help="Replace conflicting files, after backing them up."),
        click.option("--keep", multiple=True, metavar="NAME", help="Keep this edited skill as it is (repeatable)."),
        dry_run_option,
    ):
        function = option(function)
    return fetch_options(function)


def exclude_newer_option(function: Function) -> Function:
    """Add the option of commands that select versions."""
    return click.option(
        "--exclude-newer",
        metavar="WHEN",
        help="Ignore versions newer than an age or date: '7 days', 12h, 2026-01-31, or a timestamp.",
    )(function)


def lock_policy_options(function: Function) -> Function:
    """Add `--locked` and `--frozen`."""
    for option in (
        click.option("--frozen", is_flag=True, help="Use the lockfile as is, without resolving."),
        click.option("--locked", is_flag=True, help="Fail if the lockfile is not up to date."),
    ):
        function = option(function)
    return function


def build_change_options(invocation: Invocation, *, locked_in_ci: bool = False) -> ChangeOptions:
    """Return the options of a change. With `locked_in_ci`, `--locked` is the default where the variable CI is set."""
    flags = invocation.flags
    locked, frozen = flags.get("locked", False), flags.get("frozen", False)
    if locked and frozen:
        raise UsageError("--locked and --frozen cannot be used together")
    is_from_ci = locked_in_ci and invocation.context.settings.ci and not (locked or frozen)
    return ChangeOptions(
        lock_policy=LockPolicy(locked=locked or is_from_ci, frozen=frozen, is_from_ci=is_from_ci),
        install=InstallOptions(
            keep=flags.get("keep", ()),
            force=flags.get("force", False),
            inexact=flags.get("inexact", False),
            command=join(["skillpm", *(click.get_current_context().obj or ())]),
        ),
        dry_run=flags.get("dry_run", False),
    )
