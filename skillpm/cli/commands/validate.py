"""`skillpm validate`."""

import sys
from typing import Any

import click

from skillpm.cli.options import Invocation, output_options
from skillpm.cli.text_layout import line_width
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.operations.validate import ValidatedSkill, validate
from skillpm.skillmd.findings import Finding


@click.command(
    epilog="""\b
Examples:
  skillpm validate ./my-skill     list all findings; exit 1 if not valid
  skillpm validate skills         all skills below a folder
  skillpm validate --fix .        fix what can be fixed automatically
  skillpm validate --fix --yaml . convert TOML frontmatter, too
  skillpm validate --lenient .    check only whether skills can be loaded"""
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", help="Skills, or folders of skills [default: .].")
@click.option("--lenient", is_flag=True, help="Check only whether the skills can be loaded.")
@click.option("--fix", is_flag=True, help="Fix what can be fixed automatically; other bytes do not change.")
@click.option("--yaml", "to_yaml", is_flag=True, help="With --fix, convert TOML frontmatter to YAML.")
@output_options
def command(call: Invocation, paths: tuple[str, ...], *, lenient: bool, fix: bool, to_yaml: bool) -> int:
    """Check skills against the Agent Skills specification. Changes nothing without --fix."""
    if lenient and fix:
        raise UsageError("--lenient and --fix cannot be used together", hint="run `skillpm validate --help`")
    if to_yaml and not fix:
        raise UsageError("--yaml needs --fix", hint="run `skillpm validate --fix --yaml`")
    skills = validate(call.session, paths, repair=fix, to_yaml=to_yaml)
    accepted = [skill for skill in skills if (skill.report.loadable if lenient else skill.report.valid)]
    is_ok = len(accepted) == len(skills)
    if call.console.as_json:
        rows = [_to_json(skill, include_fixed=fix) for skill in skills]
        call.console.print_json({"ok": is_ok, "skills": rows})
    else:
        for skill in skills:
            _print_skill(call, skill, lenient=lenient)
        fixed = f"{sum(len(skill.fixes) for skill in skills)} fixed, " if fix else ""
        state = "loadable" if lenient else "valid"
        call.console.print_message(f"{fixed}{len(accepted)} of {pluralize(len(skills), 'skill')} {state}")
        if fix and not is_ok:
            call.console.print_message("the remaining findings need a decision of the author: edit the lines above")
    return 0 if is_ok else 1


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
    """Print what was fixed in a skill, then its findings, each with the line it refers to."""
    for finding in skill.fixes:
        _print_finding(invocation, skill, finding, "fixed", "green")
    for finding in skill.findings:
        if lenient and skill.report.loadable:
            continue
        _print_finding(invocation, skill, finding, finding.level, "red" if finding.level == "error" else "yellow")
        if finding.line <= len(skill.lines) and skill.lines[finding.line - 1].strip():
            width = line_width() - 11 if sys.stdout.isatty() else 100
            invocation.console.print_line(f"    {finding.line:4} | {sanitize(skill.lines[finding.line - 1], width)}")


def _print_finding(invocation: Invocation, skill: ValidatedSkill, finding: Finding, label: str, color: str) -> None:
    text = f"{sanitize(skill.path)}:{finding.line}: {label}: {finding.message} [{finding.code}]"
    invocation.console.print_wrapped(text, indent=4, fg=color)
