"""`skillpm lock`."""

from typing import Any

import click

from skillpm.cli.change_options import exclude_newer_option, fetch_options
from skillpm.cli.option_types import NUMBER
from skillpm.cli.options import create_invocation
from skillpm.errors import LockfileOutdated, UsageError
from skillpm.operations.install.lock import check_lock, lock


@click.command(
    epilog="""\b
Examples:
  skillpm lock                       write skills.lock, install nothing
  skillpm lock --upgrade             the newest of all that skills.json allows
  skillpm lock --upgrade-skill pdf   the newest of one
  skillpm lock --check               exit 1 if it is not up to date"""
)
@click.option("--check", is_flag=True, help="Only tell whether the lockfile is up to date.")
@click.option("--upgrade", is_flag=True, help="Take the newest versions of all that the manifest allows.")
@click.option("--upgrade-skill", "skills", multiple=True, metavar="NAME", help="Take the newest version of this one.")
@click.option("--dry-run", is_flag=True, help="Only say what would be locked.")
@click.option("--lock-timeout", type=NUMBER, metavar="SECONDS", help="How long to wait for another skillpm.")
@exclude_newer_option
@fetch_options
def command(check: bool, upgrade: bool, skills: tuple[str, ...], **flags: Any) -> int:  # noqa: FBT001  (flags)
    """Resolve only: make skills.lock say what skills.json asks."""
    call = create_invocation(flags)
    scope, dry_run = call.scope, flags["dry_run"]
    if check and (upgrade or skills):
        raise UsageError("--check tells whether the lockfile is right, --upgrade changes it; give one")
    upgraded = () if upgrade else skills or None
    result = check_lock(scope, call.context) if check else lock(scope, call.context, dry_run=dry_run, upgrade=upgraded)
    if call.console.as_json:
        rows = [{"name": name, "from": was, "to": becomes} for name, was, becomes in result.changes]
        call.console.print_json(
            {
                "changed": result.is_changed,
                "upToDate": result.is_up_to_date,
                "skills": rows,
                "reasons": list(result.reasons),
                "warnings": list(result.warnings),
            }
        )
        return 0 if result.is_up_to_date or not check else 1
    if check and not result.is_up_to_date:
        raise LockfileOutdated(
            f"the lockfile is not up to date: {'; '.join(result.reasons)}",
            where=scope.lockfile,
            hint=f"run `skillpm lock{scope.flag}`",
        )
    if call.console.quiet:
        return 0
    for name, was, becomes in result.changes:
        sign = "~" if was and becomes else "+" if becomes else "-"
        same = f"{'same' if name in result.unchanged_content else 'other'} content"
        versions = [part for part in (was, becomes if becomes != was else same) if part]
        call.console.print_line(f" {sign} {name} {' → '.join(versions)}")
    state = "is up to date" if result.is_up_to_date else "would change" if dry_run else "written"
    call.console.print_line(f"{scope.lockfile} {state}")
    return 0
