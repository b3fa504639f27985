"""`skillpm validate`."""

import sys
from typing import Any

import click

from skillpm.cli.options import Invocation, create_invocation, output_options
from skillpm.cli.text_layout import line_width, wrap_text
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.operations.validate import ValidatedSkill, validate
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
@output_options
def command(paths: tuple[str, ...], lenient: bool, fix: bool, **flags: Any) -> int:  # noqa: FBT001  (flags)
    """Check skills against the Agent Skills specification. Changes nothing, but with --fix."""
    if lenient and fix:
        raise UsageError("give one of --lenient and --fix", hint="skillpm validate --help")
    call = create_invocation(flags)
    judged = validate(call.context, paths, repair=fix)
    good = [skill for skill in judged if (skill.report.loadable if lenient else skill.report.valid)]
    if call.console.as_json:
        skills = [_to_json(skill, include_fixed=fix) for skill in judged]
        call.console.print_json({"ok": len(good) == len(judged), "skills": skills})
    else:
        for skill in judged:
            _print_skill(call, skill, lenient=lenient)
        mended = sum(len(skill.fixes) for skill in judged)
        word = "loadable" if lenient else "valid"
        plural = "" if len(judged) == 1 else "s"
        call.console.print_message(
            f"{f'{mended} mended, ' if fix else ''}{len(good)} of {len(judged)} skill{plural} {word}"
        )
        if fix and len(good) < len(judged):
            call.console.print_message("what is left only the author can decide: edit the lines that are named above")
    return 0 if len(good) == len(judged) else 1


def _to_json(skill: ValidatedSkill, *, include_fixed: bool) -> dict[str, Any]:
    value: dict[str, Any] = {
        "path": skill.path,
        "name": skill.report.declared or skill.name,
        "loadable": skill.report.loadable,
        "valid": skill.report.valid,
        "findings": [
            {"code": finding.code, "level": finding.level, "message": finding.message, "line": finding.line}
            for finding in skill.findings
        ],
    }
    if include_fixed:
        value["fixed"] = [{"code": item.code, "message": item.message, "line": item.line} for item in skill.fixes]
    return value


def _print_skill(invocation: Invocation, skill: ValidatedSkill, *, lenient: bool) -> None:
    """Print what was mended in one skill, then its findings, each with the line it is about."""
    for finding in skill.fixes:
        _print_finding(invocation, skill, finding, "fixed", "green")
    for finding in skill.findings:
        if lenient and skill.report.loadable:
            continue
        _print_finding(invocation, skill, finding, finding.level, "red" if finding.level == "error" else "yellow")
        if finding.line <= len(skill.lines) and skill.lines[finding.line - 1].strip():
            wide = line_width() - 11 if sys.stdout.isatty() else 100
            invocation.console.print_line(f"    {finding.line:4} | {sanitize(skill.lines[finding.line - 1], wide)}")


def _print_finding(invocation: Invocation, skill: ValidatedSkill, finding: Finding, label: str, color: str) -> None:
    text = f"{sanitize(skill.path)}:{finding.line}: {label}: {finding.message} [{finding.code}]"
    invocation.console.print_line("\n".join(wrap_text(text, indent=4, is_stdout=True)), fg=color)
