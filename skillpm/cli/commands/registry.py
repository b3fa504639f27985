"""`skillpm registry build|check`."""

from typing import Any

import click

from skillpm.cli.command_group import CommandGroup
from skillpm.cli.options import create_invocation, scope_options
from skillpm.core.text import pluralize
from skillpm.operations.registry import check_registry, rebuild_registry


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  skillpm registry build   after you made or changed a skill by hand
  skillpm registry check   exit 1 if it is not true""",
)
def command() -> None:
    """Build or check the registry (skills.json in the skills directory) that loaders read."""


@command.command("build", epilog="\b\nExample:\n  skillpm registry build -g")
@scope_options
def build_command(**flags: Any) -> None:
    """Build the registry from what lies on disk, hand-made skills too."""
    call = create_invocation(flags)
    scope = call.scope
    found = rebuild_registry(scope, call.context)
    if call.console.as_json:
        told = (*found.problems, *found.warnings)
        problems = [{"path": problem.path, "message": problem.message} for problem in told]
        call.console.print_json({"changed": found.is_changed, "skills": found.skill_count, "problems": problems})
        return
    for problem in found.problems:
        call.console.warn(f"{problem.path} is left out: {problem.message}")
    for remark in found.warnings:
        call.console.warn(f"{remark.path}: {remark.message}")
    if call.console.quiet:
        return
    state = "written" if found.is_changed else "was up to date"
    call.console.print_line(f"{scope.layout.registry} {state}: {pluralize(found.skill_count, 'skill')}")


@command.command("check", epilog="\b\nExample:\n  skillpm registry check --json")
@scope_options
def check_command(**flags: Any) -> int:
    """Prove that the registry says what lies on disk. Changes nothing; exit 1 if not."""
    call = create_invocation(flags)
    scope = call.scope
    found = check_registry(scope, call.context)
    if call.console.as_json:
        problems = [{"path": problem.path, "message": problem.message} for problem in found.problems]
        call.console.print_json(
            {
                "ok": found.is_ok,
                "missing": list(found.missing),
                "stale": list(found.stale),
                "extra": list(found.extra),
                "problems": problems,
            }
        )
        return 0 if found.is_ok else 1
    for word, names in (("missing", found.missing), ("stale", found.stale), ("extra", found.extra)):
        for name in names:
            call.console.print_line(f"{word}: {name}")
    for problem in found.problems:
        call.console.warn(f"{problem.path}: {problem.message}")
    call.console.print_message(
        "the registry is true" if found.is_ok else "the registry is not true: `skillpm registry build`"
    )
    return 0 if found.is_ok else 1
