"""Options of the commands that fetch skills or change the skills directory."""

import math
from shlex import join
from typing import Any

import click

from skillpm.change.change import ChangeOptions
from skillpm.cli.options import Invocation, combine_options, scope_options
from skillpm.errors import UsageError
from skillpm.formats.edit_policy import EditPolicy
from skillpm.installer.actions import InstallOptions
from skillpm.locking.lock_resolution import LockPolicy
from skillpm.vetting.validation_options import ValidationOptions


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


NUMBER = NumberParam()
lock_timeout_option = click.option(
    "--lock-timeout",
    type=NUMBER,
    metavar="SECONDS",
    help="Wait at most SECONDS for another skillpm process to finish [default: 60].",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be done, without doing it.")
insecure_host_option = click.option(
    "--allow-insecure-host", "insecure", multiple=True, metavar="HOST", help="Allow plain HTTP to HOST (repeatable)."
)


# For commands that publish skills.
sign_option = click.option(
    "--sign", metavar="KEY", default="", help="Sign each skill with the private key in a PEM file."
)
# For commands that select versions.
exclude_newer_option = click.option(
    "--exclude-newer",
    metavar="WHEN",
    help="Ignore versions newer than an age or date: '7 days', 12h, 2026-01-31, or a timestamp.",
)
network_options = combine_options(
    click.option("--offline", is_flag=True, help="Use only cached content; make no network requests."),
    insecure_host_option,
)
fetch_options = combine_options(scope_options, network_options)
# For commands that install or use new content.
allow_option = click.option(
    "--allow",
    "allowed_rules",
    multiple=True,
    metavar="RULE",
    help="Do not refuse new content because of this rule of the audit, this time (repeatable).",
)
# For commands that may leave skills of a collection out.
strict_option = click.option(
    "--strict", is_flag=True, help="Exit with 1 if a skill of a collection was left out, or stays as it is locked."
)
# For commands that change the skills directory.
change_options = combine_options(
    fetch_options,
    dry_run_option,
    allow_option,
    click.option("--keep", multiple=True, metavar="NAME", help="Keep this edited skill as it is (repeatable)."),
    click.option("--force", is_flag=True, help="Replace or remove conflicting files, after backing them up."),
    lock_timeout_option,
)
# For commands that install new content.
merge_options = combine_options(
    click.option("--merge", is_flag=True, help="Merge your edits into new content, and stop where they overlap."),
    click.option("--conflicts", is_flag=True, help="With --merge, write conflict marks where they overlap."),
)
lock_policy_options = combine_options(
    click.option("--locked", is_flag=True, help="Fail if the lockfile is not up to date."),
    click.option("--frozen", is_flag=True, help="Use the lockfile as is, without resolving."),
)


def build_change_options(invocation: Invocation, *, locked_in_ci: bool = False) -> ChangeOptions:
    """Return the options of a change. With `locked_in_ci`, `--locked` is the default where the variable CI is set."""
    flags = invocation.flags
    locked, frozen = flags.get("locked", False), flags.get("frozen", False)
    if locked and frozen:
        raise UsageError("--locked and --frozen cannot be used together")
    merges, marks = flags.get("merge", False), flags.get("conflicts", False)
    if marks and not merges:
        raise UsageError("--conflicts requires --merge")
    if merges and flags.get("force"):
        raise UsageError("--merge and --force cannot be used together")
    is_from_ci = locked_in_ci and invocation.session.settings.ci and not (locked or frozen)
    return ChangeOptions(
        lock_policy=LockPolicy(locked=locked or is_from_ci, frozen=frozen, is_from_ci=is_from_ci),
        install=InstallOptions(
            keep=flags.get("keep", ()),
            force=flags.get("force", False),
            inexact=flags.get("inexact", False),
            edits=EditPolicy(default="merge" if merges else None),
            allows_marks=marks,
            command=join(["skillpm", *(click.get_current_context().obj or ())]),
        ),
        dry_run=flags.get("dry_run", False),
        allows_whole_repositories=flags.get("yes", False),
        groups=flags.get("groups", ()),
        validation=ValidationOptions(
            allow=flags.get("allowed_rules", ()), requires_reviews=flags.get("reviewed", False)
        ),
    )
