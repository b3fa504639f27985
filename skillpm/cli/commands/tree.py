"""`skillpm tree`."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from skillpm.cli.options import call_of, reading
from skillpm.core.text import show
from skillpm.operations.inspect.dependency_tree import Branch, tree


@click.command(
    epilog="""\b
Examples:
  skillpm tree          what skills.json asks for, and what that needs
  skillpm tree report   what one of them needs
  skillpm tree --json   for programs"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@reading
def command(names: tuple[str, ...], **flags: Any) -> None:
    """Show who needs what, as the lockfile has it. `(*)`: what it needs stands further up."""
    call = call_of(flags)
    roots = tree(call.scope, call.tools, names)
    if call.console.as_json:
        call.console.data({"roots": [_value(root) for root in roots]})
        return
    for root in roots:
        call.console.line(_said(root))
        for line in _lines(root.needs, ""):
            call.console.line(line)
    if not roots:
        call.console.say("nothing is asked for here")


def _value(branch: Branch) -> dict[str, Any]:
    value = {
        "name": branch.name,
        "version": branch.version,
        "requirement": branch.requirement,
        "dependencies": [_value(need) for need in branch.needs],
    }
    return {**value, "repeated": True} if branch.is_repeated else value


def _lines(branches: Sequence[Branch], indent: str) -> Iterator[str]:
    for number, branch in enumerate(branches, 1):
        last = number == len(branches)
        yield f"{indent}{'└── ' if last else '├── '}{_said(branch)}"
        yield from _lines(branch.needs, indent + ("    " if last else "│   "))


def _said(branch: Branch) -> str:
    wanted = branch.requirement if isinstance(branch.requirement, str) and branch.requirement != "*" else ""
    asked = f"({show(wanted, 80)})" if wanted else ""
    parts = [branch.name, show(branch.version, 60), asked, "(*)" * branch.is_repeated]
    return " ".join(part for part in parts if part)
