"""`skillpm lock`."""

from typing import Any

import click

from skillpm.cli.console import Console
from skillpm.cli.options import (
    Invocation,
    allow_option,
    dry_run_option,
    exclude_newer_option,
    fetch_options,
    lock_timeout_option,
    strict_option,
)
from skillpm.cli.reports.change_output import exit_code_of, failures_to_json, report_failures
from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some
from skillpm.errors import LockfileOutdated, UsageError
from skillpm.locking.lock_proof import Claim, LockProof
from skillpm.operations.install.lock import LockResult, check_lock, lock
from skillpm.scope.project import Project
from skillpm.scope.project_files import require_project_in_ci
from skillpm.vetting.validation_options import ValidationOptions

MAX_NAMES = 20


@click.command(
    epilog="""\b
Examples:
  skillpm lock                       write skills.lock without installing
  skillpm lock --upgrade             upgrade all skills as skills.json allows
  skillpm lock --upgrade-skill pdf   upgrade one skill
  skillpm lock --check               exit 1 if it is not up to date"""
)
@click.option("--check", is_flag=True, help="Check that the lockfile is up to date, and that it is true.")
@click.option("--upgrade", is_flag=True, help="Upgrade all skills to the newest versions that skills.json allows.")
@click.option("--upgrade-skill", "skills", multiple=True, metavar="NAME", help="Upgrade this skill (repeatable).")
@allow_option
@strict_option
@dry_run_option
@lock_timeout_option
@exclude_newer_option
@fetch_options
def command(call: Invocation, check: bool, upgrade: bool, skills: tuple[str, ...]) -> int:  # noqa: FBT001  (flags)
    """Resolve skills.json and write skills.lock, without installing anything.

    With --check, nothing is written. It proves that each content is that of its commit, and that tags and versions
    still lead to what is locked; with --offline, it prints what was not proved.
    """
    scope, dry_run = call.scope, call.flags["dry_run"]
    require_project_in_ci(scope, call.session.settings)
    validation = ValidationOptions(allow=call.flags["allowed_rules"])
    if check and (upgrade or skills or validation.allow):
        raise UsageError("--check cannot be used with --upgrade, --upgrade-skill or --allow")
    upgraded = () if upgrade else skills or None
    if check:
        result = check_lock(Project(scope, call.session))
    else:
        result = lock(Project(scope, call.session), dry_run=dry_run, upgrade=upgraded, validation=validation)
    if call.console.as_json:
        rows = [{"name": name, "from": old, "to": new} for name, old, new in result.changes]
        value = {
            "changed": result.is_changed,
            "upToDate": result.is_up_to_date,
            "skills": rows,
            "reasons": list(result.reasons),
            "warnings": list(result.warnings),
        }
        failed = {"failed": failures_to_json(result.failures)} if result.failures else {}
        left_out = {"leftOut": [each.value for each in result.left_out]} if result.left_out else {}
        call.console.print_json({**value, **failed, **left_out, **(_proof_to_json(result.proof) if check else {})})
        is_wrong = result.failures or (check and not result.is_up_to_date)
        return 1 if is_wrong else exit_code_of(call, result.left_out)
    if check:
        _print_proof(call.console, result.proof)
    if result.proof.wrong:
        names = [claim.name for claim in result.proof.wrong]
        refs = {claim.what: "branches" if claim.what == "branch" else "tags" for claim in result.proof.wrong}
        raise LockfileOutdated(
            f"the lockfile is not what its {' and '.join(sorted(refs.values()))} lead to: {'; '.join(result.reasons)}",
            where=scope.lockfile,
            hint=f"check why they changed; `{scope.command('update', *names)}` locks what they lead to now",
            skills=names,
        )
    if check and not result.is_up_to_date:
        raise LockfileOutdated(
            f"the lockfile is not up to date: {'; '.join(result.reasons)}",
            where=scope.lockfile,
            hint=f"run `skillpm lock{scope.flag}`",
        )
    if not call.console.quiet:
        _print_changes(call, result)
    return report_failures(call.console, result.failures) or exit_code_of(call, result.left_out)


def _print_changes(call: Invocation, result: LockResult) -> None:
    """Print what locking changed, or would change."""
    for name, old, new in result.changes:
        symbol = "~" if old and new else "+" if new else "-"
        content = "same content" if name in result.unchanged_content else "different content"
        versions = [part for part in (old, new if new != old else content) if part]
        call.console.print_line(f" {symbol} {name} {' → '.join(versions)}")
    state = "is up to date" if result.is_up_to_date else "would change" if call.flags["dry_run"] else "written"
    call.console.print_line(f"{call.scope.lockfile} {state}")


def _print_proof(console: Console, proof: LockProof) -> None:
    """Print which claims were proved, and which were not, and why: those of one kind in one line."""
    for what in ("content", "tag", "branch", "version"):
        if names := [claim.name for claim in proof.proved if claim.what == what]:
            console.print_message(f"proved: {what} of {list_some(names, MAX_NAMES)}", indent=8)
    groups: dict[tuple[str, str], list[SkillName]] = {}
    for claim in proof.unproved:
        groups.setdefault((claim.what, claim.problem), []).append(claim.name)
    for (what, problem), names in groups.items():
        console.print_message(f"not proved: {what} of {list_some(names, MAX_NAMES)}: {problem}", indent=12)


def _proof_to_json(proof: LockProof) -> dict[str, Any]:
    def to_json(claim: Claim) -> dict[str, str]:
        value = {"name": claim.name, "what": claim.what}
        return value | ({"why": claim.problem} if claim.problem else {})

    return {"proved": [*map(to_json, proof.proved)], "unproved": [*map(to_json, proof.unproved)]}
