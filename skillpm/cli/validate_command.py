"""`skillpm validate`."""

from typing import Any

import click

from skillpm.cli.common import Call, call_of, reading
from skillpm.documents.text import show
from skillpm.operations.validating import Judged, validate


@click.command(
    epilog="""\b
Examples:
  skillpm validate ./my-skill     every finding at once, exit 1 if it is not valid
  skillpm validate skills         all skills below a folder
  skillpm validate --lenient .    only whether they can be loaded"""
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--lenient", is_flag=True, help="Ask only whether the skills can be loaded.")
@reading
def command(paths: tuple[str, ...], lenient: bool, **flags: Any) -> int:  # noqa: FBT001  (a flag of the command line)
    """Check skills against the Agent Skills specification. Changes nothing."""
    call = call_of(flags)
    judged = validate(call.tools, paths)
    good = [skill for skill in judged if (skill.verdict.loadable if lenient else skill.verdict.valid)]
    if call.console.as_json:
        call.console.data({"ok": len(good) == len(judged), "skills": [_value(skill) for skill in judged]})
    else:
        for skill in judged:
            _tell(call, skill, lenient=lenient)
        word = "loadable" if lenient else "valid"
        call.console.say(f"{len(good)} of {len(judged)} skill{'' if len(judged) == 1 else 's'} {word}")
    return 0 if len(good) == len(judged) else 1


def _value(skill: Judged) -> dict[str, Any]:
    return {
        "path": skill.path,
        "name": skill.verdict.declared or skill.name,
        "loadable": skill.verdict.loadable,
        "valid": skill.verdict.valid,
        "findings": [
            {"code": finding.code, "level": finding.level, "message": finding.message, "line": finding.line}
            for finding in skill.findings
        ],
    }


def _tell(call: Call, skill: Judged, *, lenient: bool) -> None:
    """Print the findings of one skill, each with the line it is about."""
    for finding in skill.findings:
        if lenient and skill.verdict.loadable:
            continue
        call.console.line(
            f"{show(skill.path)}:{finding.line}: {finding.level}: {finding.message} [{finding.code}]",
            fg="red" if finding.level == "error" else "yellow",
        )
        if finding.line <= len(skill.lines) and skill.lines[finding.line - 1].strip():
            call.console.line(f"    {finding.line:4} | {show(skill.lines[finding.line - 1], 100)}")
