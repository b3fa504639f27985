"""`skillpm registry build|check`."""

from typing import Any

import click

from skillpm.cli.command_group import Family
from skillpm.cli.options import call_of, reading
from skillpm.core.text import counted
from skillpm.operations.registry import check_registry, rebuild


@click.group(
    cls=Family,
    epilog="""\b
Examples:
  skillpm registry build   after you made or changed a skill by hand
  skillpm registry check   exit 1 if it is not true""",
)
def command() -> None:
    """Build or check the registry (skills.json in the skills directory) that loaders read."""


@command.command("build", epilog="\b\nExample:\n  skillpm registry build -g")
@reading
def build_command(**flags: Any) -> None:
    """Build the registry from what lies on disk, hand-made skills too."""
    call = call_of(flags)
    scope = call.scope
    found = rebuild(scope, call.tools)
    if call.console.as_json:
        told = (*found.problems, *found.remarks)
        problems = [{"path": problem.path, "message": problem.message} for problem in told]
        call.console.data({"changed": found.changed, "skills": found.skills, "problems": problems})
        return
    for problem in found.problems:
        call.console.warning(f"{problem.path} is left out: {problem.message}")
    for remark in found.remarks:
        call.console.warning(f"{remark.path}: {remark.message}")
    if call.console.quiet:
        return
    state = "written" if found.changed else "was up to date"
    call.console.line(f"{scope.layout.registry} {state}: {counted(found.skills, 'skill')}")


@command.command("check", epilog="\b\nExample:\n  skillpm registry check --json")
@reading
def check_command(**flags: Any) -> int:
    """Prove that the registry says what lies on disk. Changes nothing; exit 1 if not."""
    call = call_of(flags)
    scope = call.scope
    found = check_registry(scope, call.tools)
    if call.console.as_json:
        problems = [{"path": problem.path, "message": problem.message} for problem in found.problems]
        call.console.data(
            {
                "ok": found.ok,
                "missing": list(found.missing),
                "stale": list(found.stale),
                "extra": list(found.extra),
                "problems": problems,
            }
        )
        return 0 if found.ok else 1
    for word, names in (("missing", found.missing), ("stale", found.stale), ("extra", found.extra)):
        for name in names:
            call.console.line(f"{word}: {name}")
    for problem in found.problems:
        call.console.warning(f"{problem.path}: {problem.message}")
    call.console.say("the registry is true" if found.ok else "the registry is not true: `skillpm registry build`")
    return 0 if found.ok else 1
