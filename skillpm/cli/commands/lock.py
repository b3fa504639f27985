"""`skillpm lock`."""

import click

from skillpm.cli.change_options import dry_run_option, exclude_newer_option, fetch_options, lock_timeout_option
from skillpm.cli.options import Invocation
from skillpm.errors import LockfileOutdated, UsageError
from skillpm.operations.install.lock import check_lock, lock


@click.command(
    epilog="""\b
Examples:
  skillpm lock                       write skills.lock without installing
  skillpm lock --upgrade             upgrade all skills as skills.json allows
  skillpm lock --upgrade-skill pdf   upgrade one skill
  skillpm lock --check               exit 1 if it is not up to date"""
)
@click.option("--check", is_flag=True, help="Check whether the lockfile is up to date, without writing it.")
@click.option("--upgrade", is_flag=True, help="Upgrade all skills to the newest versions that skills.json allows.")
@click.option("--upgrade-skill", "skills", multiple=True, metavar="NAME", help="Upgrade this skill (repeatable).")
@dry_run_option
@lock_timeout_option
@exclude_newer_option
@fetch_options
def command(call: Invocation, check: bool, upgrade: bool, skills: tuple[str, ...]) -> int:  # noqa: FBT001  (flags)
    """Resolve skills.json and write skills.lock, without installing anything."""
    scope, dry_run = call.scope, call.flags["dry_run"]
    if check and (upgrade or skills):
        raise UsageError("--check cannot be used with --upgrade or --upgrade-skill")
    upgraded = () if upgrade else skills or None
    result = check_lock(scope, call.context) if check else lock(scope, call.context, dry_run=dry_run, upgrade=upgraded)
    if call.console.as_json:
        rows = [{"name": name, "from": old, "to": new} for name, old, new in result.changes]
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
    for name, old, new in result.changes:
        symbol = "~" if old and new else "+" if new else "-"
        content = "same content" if name in result.unchanged_content else "different content"
        versions = [part for part in (old, new if new != old else content) if part]
        call.console.print_line(f" {symbol} {name} {' → '.join(versions)}")
    state = "is up to date" if result.is_up_to_date else "would change" if dry_run else "written"
    call.console.print_line(f"{scope.lockfile} {state}")
    return 0
