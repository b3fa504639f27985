"""`skillpm doctor`."""

import os
from typing import Any

import click

from skillpm.cli.console import Console
from skillpm.cli.options import create_console, fetch_options, read_scope_flags
from skillpm.core.text import pluralize, sanitize
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext, make_doctor_context
from skillpm.operations.doctor.examination import CHECKS, DoctorReport, run_checks


@click.command(
    epilog="""\b
Examples:
  skillpm doctor         exit 1 if there are problems
  skillpm doctor --fix   repair what is safe to repair
  skillpm doctor -g      check the user scope"""
)
@click.option("--fix", is_flag=True, help="Repair problems that can be repaired without losing data.")
@fetch_options
def command(**flags: Any) -> int:
    """Diagnose problems of this scope, the cache and the environment, and suggest repairs.

    Changes nothing without --fix.
    """
    console = create_console(flags)
    before = run_checks(_create_context(flags))
    fixed: tuple[Diagnostic, ...] = ()
    after, notes = before, list[str]()
    if flags["fix"] and before.diagnostics:
        from skillpm.operations.doctor.repair import repair  # noqa: PLC0415  (imports all that fetches and installs)

        repair(_create_context(flags), notes.append)
        after = run_checks(_create_context(flags))
        remaining = {(finding.check, finding.message) for finding in after.diagnostics}
        fixed = tuple(finding for finding in before.problems if (finding.check, finding.message) not in remaining)
    if console.as_json:
        console.print_json(_to_json(after, fixed, notes, is_fixing=flags["fix"]))
    else:
        scope = _create_context(flags).scope
        location = "" if scope is None else f" in {sanitize(scope.layout.directory, 500)}"
        _print_report(console, after, fixed, notes, location)
    return 0 if after.is_ok else 1


def _create_context(flags: dict[str, Any]) -> DoctorContext:
    user, project = read_scope_flags(flags)
    return make_doctor_context(
        os.environ, user=user, project=project, offline=flags["offline"], insecure_hosts=flags["insecure"]
    )


def _print_report(
    console: Console, report: DoctorReport, fixed: tuple[Diagnostic, ...], notes: list[str], location: str
) -> None:
    for finding in fixed:
        console.print_wrapped(f"repaired: {sanitize(finding.message, 500)}", indent=10, fg="green")
    for line in "\n".join(dict.fromkeys(notes)).splitlines():
        console.print_message(sanitize(line, 500))
    for finding in sorted(report.diagnostics, key=lambda finding: finding.is_note):
        if not (finding.is_note and console.quiet):
            _print_diagnostic(console, finding)
    count = len(report.problems)
    if count:
        console.print_message(pluralize(count, "problem"))
    elif not console.quiet:
        console.print_line(f"no problems{location}; checked:")
        for check in CHECKS:
            console.print_line(f"  {CHECKS[check][0]}")


def _print_diagnostic(console: Console, diagnostic: Diagnostic) -> None:
    style = {} if diagnostic.is_note else {"fg": "red"}
    label = "note: " if diagnostic.is_note else "problem: "
    console.print_wrapped(label + sanitize(diagnostic.message, 500), indent=len(label), **style)
    if diagnostic.where:
        console.print_line(f"    where: {sanitize(diagnostic.where, 500)}")
    if diagnostic.hint:
        console.print_wrapped(f"    hint: {sanitize(diagnostic.hint, 500)}", indent=10)


def _to_json(
    report: DoctorReport, fixed: tuple[Diagnostic, ...], notes: list[str], *, is_fixing: bool
) -> dict[str, Any]:
    rows = [
        {
            "id": finding.check,
            "ok": finding.is_note,
            "message": finding.message,
            "hint": finding.hint,
            "where": finding.where,
            "level": "note" if finding.is_note else "problem",
        }
        for finding in report.diagnostics
    ]
    rows += [
        {"id": check, "ok": True, "message": CHECKS[check][0], "hint": "", "where": "", "level": "fine"}
        for check in report.passed_checks
    ]
    value: dict[str, Any] = {"ok": report.is_ok, "checks": rows}
    if is_fixing:
        repaired = [{"id": item.check, "message": item.message, "where": item.where} for item in fixed]
        value |= {"repaired": repaired, "notes": list(dict.fromkeys(notes))}
    return value
