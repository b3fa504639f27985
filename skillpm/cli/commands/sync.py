"""`skillpm sync` (ci)."""

from typing import Any

import click

from skillpm.cli.change_options import build_change_options, change_options, exclude_newer_option, lock_policy_options
from skillpm.cli.change_output import print_change
from skillpm.cli.options import create_invocation
from skillpm.operations.install.sync import sync


@click.command(
    epilog="""\b
Examples:
  skillpm sync             what skills.lock says; what is new is locked
  skillpm sync --frozen    for CI: exactly the lockfile, or a clear refusal
  skillpm sync --offline   from the caches alone
  skillpm sync --dry-run   only say what would be done"""
)
@click.option("--inexact", is_flag=True, help="Remove nothing.")
@exclude_newer_option
@lock_policy_options
@change_options
def command(**flags: Any) -> None:
    """Make the skills directory be what the lockfile says."""
    call = create_invocation(flags)
    scope, options = call.scope, build_change_options(call, locked_in_ci=True)
    result = sync(scope, call.context, options)
    if scope.is_fallback:
        call.console.print_message("no skills.json is here or above: this is user scope (-g says so; or --project DIR)")
    print_change(call, result)
