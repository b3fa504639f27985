"""`skillpm doctor`."""

import os
from typing import Any

import click

from skillpm.cli.change_options import networked
from skillpm.cli.console import Console
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import counted, show
from skillpm.errors import UsageError
from skillpm.operations.doctor.diagnostics import Finding, Patient, admitted
from skillpm.operations.doctor.examination import CHECKS, Examination, examine


@click.command(
    epilog="""\b
Examples:
  skillpm doctor         exit 1 if something is wrong
  skillpm doctor --fix   repair what can be repaired without loss
  skillpm doctor -g      look at your own scope"""
)
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything.")
@networked
def command(**flags: Any) -> int:
    """Find what is wrong with this scope, the cache and the surroundings, and say how to repair it.

    Without --fix it changes nothing.
    """
    console = Console(
        as_json=flags["as_json"], quiet=flags["quiet"], verbose=flags["verbose"], colour=not flags["no_color"]
    )
    before = examine(_patient(flags))
    fixed: tuple[Finding, ...] = ()
    after, said = before, list[str]()
    if flags["fix"] and before.findings:
        from skillpm.operations.doctor.repair import repair  # noqa: PLC0415  (all that fetches and changes)

        repair(_patient(flags), said.append)
        after = examine(_patient(flags))
        left = {(finding.check, finding.message) for finding in after.findings}
        fixed = tuple(finding for finding in before.problems if (finding.check, finding.message) not in left)
    if console.as_json:
        console.data(_value(after, fixed, said, is_fixing=flags["fix"]))
    else:
        scope = _patient(flags).scope
        _tell(console, after, fixed, said, "" if scope is None else f" in {show(scope.layout.directory, 500)}")
    return 0 if after.ok else 1


def _patient(flags: dict[str, Any]) -> Patient:
    user, project = flags["user"], flags["project"] or ""
    if user and project:
        raise UsageError("--global and --project name two scopes; give one")
    return admitted(os.environ, user=user, project=project, offline=flags["offline"], insecure=flags["insecure"])


def _tell(console: Console, found: Examination, fixed: tuple[Finding, ...], said: list[str], where: str) -> None:
    for finding in fixed:
        _wrapped(console, f"repaired: {show(finding.message, 500)}", indent=10, fg="green")
    for line in "\n".join(dict.fromkeys(said)).splitlines():
        console.say("\n".join(wrapped(show(line, 500), indent=2)))
    for finding in sorted(found.findings, key=lambda finding: finding.is_note):
        if not (finding.is_note and console.quiet):
            _tell_finding(console, finding)
    count = len(found.problems)
    if count:
        console.say(counted(count, "problem"))
    elif not console.quiet:
        console.line(f"nothing is wrong{where}; checked:")
        for check in CHECKS:
            console.line(f"  {CHECKS[check][0]}")


def _tell_finding(console: Console, finding: Finding) -> None:
    style = {} if finding.is_note else {"fg": "red"}
    lead = "note: " if finding.is_note else "problem: "
    _wrapped(console, lead + show(finding.message, 500), indent=len(lead), **style)
    if finding.where:
        console.line(f"    where: {show(finding.where, 500)}")
    if finding.hint:
        _wrapped(console, f"    try: {show(finding.hint, 500)}")


def _wrapped(console: Console, text: str, *, indent: int = 9, **style: Any) -> None:
    """Print a line, in a terminal broken between words."""
    console.line("\n".join(wrapped(text, indent=indent, is_output=True)), **style)


def _value(found: Examination, fixed: tuple[Finding, ...], said: list[str], *, is_fixing: bool) -> dict[str, Any]:
    rows = [
        {
            "id": finding.check,
            "ok": finding.is_note,
            "message": finding.message,
            "hint": finding.hint,
            "where": finding.where,
            "level": "note" if finding.is_note else "problem",
        }
        for finding in found.findings
    ]
    rows += [
        {"id": check, "ok": True, "message": CHECKS[check][0], "hint": "", "where": "", "level": "fine"}
        for check in found.fine
    ]
    value: dict[str, Any] = {"ok": found.ok, "checks": rows}
    if is_fixing:
        repaired = [{"id": item.check, "message": item.message, "where": item.where} for item in fixed]
        value |= {"repaired": repaired, "notes": list(dict.fromkeys(said))}
    return value
