"""The options of commands that fetch or change, and what they mean."""

from shlex import join

import click

from skillpm.cli.option_types import AMOUNT
from skillpm.cli.options import Call, Function, reading
from skillpm.errors import UsageError
from skillpm.installer.actions import Wishes
from skillpm.operations.install.lock_resolution import Strictness
from skillpm.operations.install.pipeline import Options


def networked(function: Function) -> Function:
    """Give a command the options of one that may fetch."""
    return reading(asking(function))


def asking(function: Function) -> Function:
    """Give a command the options of one that may ask a server, and nothing more."""
    for option in (
        click.option("--allow-insecure-host", "insecure", multiple=True, metavar="HOST", help="Allow plain http."),
        click.option("--offline", is_flag=True, help="Use only what is in the caches."),
    ):
        function = option(function)
    return function


def changing(function: Function) -> Function:
    """Give a command the options of one that changes the skills directory."""
    for option in (
        click.option("--lock-timeout", type=AMOUNT, metavar="SECONDS", help="How long to wait for another skillpm."),
        click.option("--force", is_flag=True, help="Set aside what is in the way (as a backup), and go on."),
        click.option("--keep", multiple=True, metavar="NAME", help="Leave this edited skill as it is, and go on."),
        click.option("--dry-run", is_flag=True, help="Only say what would be done."),
    ):
        function = option(function)
    return networked(function)


def dated(function: Function) -> Function:
    """Give a command the option of one that chooses among versions."""
    return click.option(
        "--exclude-newer", metavar="WHEN", help="Take nothing younger: '7 days', 12h, 2026-01-31, or a moment."
    )(function)


def strict(function: Function) -> Function:
    """Give a command `--locked` and `--frozen`."""
    for option in (
        click.option("--frozen", is_flag=True, help="Use the lockfile as it is; resolve nothing."),
        click.option("--locked", is_flag=True, help="Fail if the lockfile would change."),
    ):
        function = option(function)
    return function


def options_of(call: Call, *, bare: bool = False) -> Options:
    """Give how a changing command is to go about it. A bare one is as `--locked` in CI."""
    flags = call.flags
    locked, frozen = flags.get("locked", False), flags.get("frozen", False)
    if locked and frozen:
        raise UsageError("--locked and --frozen say different things; give one")
    by_ci = bare and call.tools.settings.ci and not (locked or frozen)
    return Options(
        strictness=Strictness(locked=locked or by_ci, frozen=frozen, by_ci=by_ci),
        wishes=Wishes(
            keep=flags.get("keep", ()),
            force=flags.get("force", False),
            inexact=flags.get("inexact", False),
            command=join(["skillpm", *(click.get_current_context().obj or ())]),
        ),
        dry_run=flags.get("dry_run", False),
    )
