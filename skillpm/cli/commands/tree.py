"""`skillpm tree`."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from skillpm.cli.options import create_invocation, scope_options
from skillpm.core.text import sanitize
from skillpm.operations.inspect.dependency_tree import DependencyNode, build_dependency_tree


@click.command(
    epilog="""\b
Examples:
  skillpm tree          what skills.json asks for, and what that needs
  skillpm tree report   what one of them needs
  skillpm tree --json   for programs"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@scope_options
def command(names: tuple[str, ...], **flags: Any) -> None:
    """Show who needs what, as the lockfile has it. `(*)`: what it needs stands further up."""
    call = create_invocation(flags)
    roots = build_dependency_tree(call.scope, call.context, names)
    if call.console.as_json:
        call.console.print_json({"roots": [_to_json(root) for root in roots]})
        return
    for root in roots:
        call.console.print_line(_format_node(root))
        for line in _format_lines(root.dependencies, ""):
            call.console.print_line(line)
    if not roots:
        call.console.print_message("nothing is asked for here")


def _to_json(node: DependencyNode) -> dict[str, Any]:
    value = {
        "name": node.name,
        "version": node.version,
        "requirement": node.requirement,
        "dependencies": [_to_json(need) for need in node.dependencies],
    }
    return {**value, "repeated": True} if node.is_repeated else value


def _format_lines(nodes: Sequence[DependencyNode], indent: str) -> Iterator[str]:
    for number, branch in enumerate(nodes, 1):
        last = number == len(nodes)
        yield f"{indent}{'└── ' if last else '├── '}{_format_node(branch)}"
        yield from _format_lines(branch.dependencies, indent + ("    " if last else "│   "))


def _format_node(node: DependencyNode) -> str:
    wanted = node.requirement if isinstance(node.requirement, str) and node.requirement != "*" else ""
    asked = f"({sanitize(wanted, 80)})" if wanted else ""
    parts = [node.name, sanitize(node.version, 60), asked, "(*)" * node.is_repeated]
    return " ".join(part for part in parts if part)
