"""`skillpm sync` (ci)."""

from typing import Any

import click

from skillpm.cli.change_options import changing, dated, options_of, strict
from skillpm.cli.change_output import tell_changed
from skillpm.cli.options import call_of
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
@dated
@strict
@changing
def command(**flags: Any) -> None:
    """Make the skills directory be what the lockfile says."""
    call = call_of(flags)
    scope, options = call.scope, options_of(call, bare=True)
    result = sync(scope, call.tools, options)
    if scope.is_fallback:
        call.console.say("no skills.json is here or above: this is user scope (-g says so; or --project DIR)")
    tell_changed(call, result)
