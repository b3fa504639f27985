"""The options of commands that fetch or change, and what they mean."""

from shlex import join

import click

from skillpm.cli.option_types import NUMBER
from skillpm.cli.options import Function, Invocation, scope_options
from skillpm.errors import UsageError
from skillpm.installer.actions import InstallOptions
from skillpm.operations.install.lock_resolution import LockPolicy
from skillpm.operations.install.pipeline import ChangeOptions


def fetch_options(function: Function) -> Function:
    """Give a command the options of one that may fetch."""
    return scope_options(network_options(function))


def network_options(function: Function) -> Function:
    """Give a command the options of one that may ask a server, and nothing more."""
    for option in (
        click.option("--allow-insecure-host", "insecure", multiple=True, metavar="HOST", help="Allow plain http."),
        click.option("--offline", is_flag=True, help="Use only what is in the caches."),
    ):
        function = option(function)
    return function


def change_options(function: Function) -> Function:
    """Give a command the options of one that changes the skills directory."""
    for option in (
        click.option("--lock-timeout", type=NUMBER, metavar="SECONDS", help="How long to wait for another skillpm."),
        click.option("--force", is_flag=True, help="Set aside what is in the way (as a backup), and go on."),
        click.option("--keep", multiple=True, metavar="NAME", help="Leave this edited skill as it is, and go on."),
        click.option("--dry-run", is_flag=True, help="Only say what would be done."),
    ):
        function = option(function)
    return fetch_options(function)


def exclude_newer_option(function: Function) -> Function:
    """Give a command the option of one that chooses among versions."""
    return click.option(
        "--exclude-newer", metavar="WHEN", help="Take nothing younger: '7 days', 12h, 2026-01-31, or a moment."
    )(function)


def lock_policy_options(function: Function) -> Function:
    """Give a command `--locked` and `--frozen`."""
    for option in (
        click.option("--frozen", is_flag=True, help="Use the lockfile as it is; resolve nothing."),
        click.option("--locked", is_flag=True, help="Fail if the lockfile would change."),
    ):
        function = option(function)
    return function


def build_change_options(invocation: Invocation, *, locked_in_ci: bool = False) -> ChangeOptions:
    """Give how a changing command is to go about it. A bare one is as `--locked` in CI."""
    flags = invocation.flags
    locked, frozen = flags.get("locked", False), flags.get("frozen", False)
    if locked and frozen:
        raise UsageError("--locked and --frozen say different things; give one")
    by_ci = locked_in_ci and invocation.context.settings.ci and not (locked or frozen)
    return ChangeOptions(
        lock_policy=LockPolicy(locked=locked or by_ci, frozen=frozen, is_from_ci=by_ci),
        install=InstallOptions(
            keep=flags.get("keep", ()),
            force=flags.get("force", False),
            inexact=flags.get("inexact", False),
            command=join(["skillpm", *(click.get_current_context().obj or ())]),
        ),
        dry_run=flags.get("dry_run", False),
    )
