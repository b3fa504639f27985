"""The options of a change, from those of the command line."""

from shlex import join

import click

from skillpm.change.change import ChangeOptions
from skillpm.cli.options import Invocation
from skillpm.errors import UsageError
from skillpm.formats.edit_policy import EditPolicy
from skillpm.installer.actions import InstallOptions
from skillpm.locking.lock_resolution import LockPolicy
from skillpm.vetting.validation_options import ValidationOptions


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
