"""`skillpm validate`."""

import sys
from typing import Any

import click

from skillpm.cli.options import Call, call_of, telling
from skillpm.cli.text_layout import room, wrapped
from skillpm.core.text import show
from skillpm.errors import UsageError
from skillpm.operations.validate import Judged, validate
from skillpm.skillmd.findings import Finding


@click.command(
    epilog="""\b
Examples:
  skillpm validate ./my-skill     every finding; exit 1 if not valid
  skillpm validate skills         all skills below a folder
  skillpm validate --fix .        mend what can be mended, tell the rest
  skillpm validate --lenient .    only whether they can be loaded"""
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--lenient", is_flag=True, help="Ask only whether the skills can be loaded.")
@click.option("--fix", is_flag=True, help="Mend what can be mended, name it, and leave every other byte alone.")
@telling
def command(paths: tuple[str, ...], lenient: bool, fix: bool, **flags: Any) -> int:  # noqa: FBT001  (flags)
    """Check skills against the Agent Skills specification. Changes nothing, but with --fix."""
    if lenient and fix:
        raise UsageError("give one of --lenient and --fix", hint="skillpm validate --help")
    call = call_of(flags)
    judged = validate(call.tools, paths, mend=fix)
    good = [skill for skill in judged if (skill.verdict.loadable if lenient else skill.verdict.valid)]
    if call.console.as_json:
        skills = [_value(skill, with_fixed=fix) for skill in judged]
        call.console.data({"ok": len(good) == len(judged), "skills": skills})
    else:
        for skill in judged:
            _tell(call, skill, lenient=lenient)
        mended = sum(len(skill.fixed) for skill in judged)
        word = "loadable" if lenient else "valid"
        plural = "" if len(judged) == 1 else "s"
        call.console.say(f"{f'{mended} mended, ' if fix else ''}{len(good)} of {len(judged)} skill{plural} {word}")
        if fix and len(good) < len(judged):
            call.console.say("what is left only the author can decide: edit the lines that are named above")
    return 0 if len(good) == len(judged) else 1


def _value(skill: Judged, *, with_fixed: bool) -> dict[str, Any]:
    value: dict[str, Any] = {
        "path": skill.path,
        "name": skill.verdict.declared or skill.name,
        "loadable": skill.verdict.loadable,
        "valid": skill.verdict.valid,
        "findings": [
            {"code": finding.code, "level": finding.level, "message": finding.message, "line": finding.line}
            for finding in skill.findings
        ],
    }
    if with_fixed:
        value["fixed"] = [{"code": item.code, "message": item.message, "line": item.line} for item in skill.fixed]
    return value


def _tell(call: Call, skill: Judged, *, lenient: bool) -> None:
    """Print what was mended in one skill, then its findings, each with the line it is about."""
    for finding in skill.fixed:
        _line(call, skill, finding, "fixed", "green")
    for finding in skill.findings:
        if lenient and skill.verdict.loadable:
            continue
        _line(call, skill, finding, finding.level, "red" if finding.level == "error" else "yellow")
        if finding.line <= len(skill.lines) and skill.lines[finding.line - 1].strip():
            wide = room() - 11 if sys.stdout.isatty() else 100
            call.console.line(f"    {finding.line:4} | {show(skill.lines[finding.line - 1], wide)}")


def _line(call: Call, skill: Judged, finding: Finding, word: str, colour: str) -> None:
    text = f"{show(skill.path)}:{finding.line}: {word}: {finding.message} [{finding.code}]"
    call.console.line("\n".join(wrapped(text, indent=4, is_output=True)), fg=colour)
