"""`skillpm registry build|check`."""

import click

from skillpm.cli.command_group import CommandGroup
from skillpm.cli.options import Invocation, scope_options
from skillpm.core.text import pluralize
from skillpm.operations.registry import check_registry, rebuild_registry
from skillpm.scope.project import Project


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  skillpm registry build   after you created or edited a local skill
  skillpm registry check   exit 1 if it is out of date""",
)
def command() -> None:
    """Build or check the registry (skills.json in the skills directory) that loaders read."""


@command.command("build", epilog="\b\nExample:\n  skillpm registry build -g")
@scope_options
def build_command(call: Invocation) -> None:
    """Build the registry from the skills on disk, including local ones."""
    scope = call.scope
    result = rebuild_registry(Project(scope, call.session))
    if call.console.as_json:
        findings = (*result.problems, *result.warnings)
        problems = [{"path": finding.path, "message": finding.message} for finding in findings]
        call.console.print_json({"changed": result.is_changed, "skills": result.skill_count, "problems": problems})
        return
    for problem in result.problems:
        call.console.warn(f"{problem.path} is not in the registry: {problem.message}")
    for warning in result.warnings:
        call.console.warn(f"{warning.path}: {warning.message}")
    if call.console.quiet:
        return
    state = "written" if result.is_changed else "is up to date"
    call.console.print_line(f"{scope.layout.registry} {state}: {pluralize(result.skill_count, 'skill')}")


@command.command("check", epilog="\b\nExample:\n  skillpm registry check --json")
@scope_options
def check_command(call: Invocation) -> int:
    """Check that the registry matches the skills on disk. Changes nothing; exits with 1 if it does not."""
    result = check_registry(call.project)
    if call.console.as_json:
        problems = [{"path": problem.path, "message": problem.message} for problem in result.problems]
        call.console.print_json(
            {
                "ok": result.is_ok,
                "missing": list(result.missing),
                "stale": list(result.stale),
                "extra": list(result.extra),
                "problems": problems,
            }
        )
        return 0 if result.is_ok else 1
    for state, names in (("missing", result.missing), ("stale", result.stale), ("extra", result.extra)):
        for name in names:
            call.console.print_line(f"{state}: {name}")
    for problem in result.problems:
        call.console.warn(f"{problem.path}: {problem.message}")
    call.console.print_message(
        "the registry is up to date" if result.is_ok else "the registry is out of date; run `skillpm registry build`"
    )
    return 0 if result.is_ok else 1
