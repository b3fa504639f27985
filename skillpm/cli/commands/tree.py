"""`skillpm tree`."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from skillpm.cli.color import Paint
from skillpm.cli.options import Invocation, scope_options
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.operations.inspect.dependency_tree import (
    DependencyNode,
    build_dependency_tree,
    find_dependency_paths,
    find_manifests,
)


@click.command(
    epilog="""\b
Examples:
  skillpm tree                  all requirements and their dependencies
  skillpm tree report           dependencies of one skill
  skillpm tree --why git-basics   every path from skills.json to a skill"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...", help="The skills to start from [default: all requirements].")
@click.option("--why", is_flag=True, help="Show why a skill is locked: the paths to it from skills.json.")
@scope_options
def command(call: Invocation, names: tuple[str, ...], *, why: bool) -> None:
    """Show the locked skills as a dependency tree. `(*)` marks a skill whose dependencies are shown above."""
    if why:
        if len(names) != 1:
            raise UsageError("--why needs the name of one skill", hint="e.g. skillpm tree --why git-basics")
        _print_paths(call, names[0])
        return
    roots = build_dependency_tree(call.project, names)
    if call.console.as_json:
        call.console.print_json({"roots": [_to_json(root) for root in roots]})
        return
    for root in roots:
        paint = call.console.paint
        call.console.print_painted([_format_node(root, paint), *_format_lines(root.dependencies, "", paint)])
    if not roots:
        call.console.print_message("no skills are required here")


def _print_paths(call: Invocation, name: str) -> None:
    paths, includes = find_dependency_paths(call.project, name)
    if call.console.as_json:
        value = {"name": name, "paths": paths}
        call.console.print_json(value | {"includes": includes} if includes else value)
        return
    for path in paths:
        manifests = " and ".join(find_manifests(call.project, path[0]))
        include = [f"include {sanitize(includes[path[0]])}"] if path[0] in includes else []
        call.console.print_line(" → ".join([manifests, *include, *path]))


def _to_json(node: DependencyNode) -> dict[str, Any]:
    value = {
        "name": node.name,
        "version": node.version,
        "requirement": node.requirement,
        "dependencies": [_to_json(dependency) for dependency in node.dependencies],
    }
    include = {"include": node.include} if node.include else {}
    return {**value, **include, **({"repeated": True} if node.is_repeated else {})}


def _format_lines(nodes: Sequence[DependencyNode], indent: str, paint: Paint) -> Iterator[str]:
    for number, node in enumerate(nodes, 1):
        is_last = number == len(nodes)
        yield paint(f"{indent}{'└── ' if is_last else '├── '}", "detail") + _format_node(node, paint)
        yield from _format_lines(node.dependencies, indent + ("    " if is_last else "│   "), paint)


def _format_node(node: DependencyNode, paint: Paint) -> str:
    versions = node.requirement if isinstance(node.requirement, str) and node.requirement != "*" else ""
    requirement = f"({sanitize(versions, 80)})" if versions else ""
    include = f"[{sanitize(node.include, 120)}]" if node.include else ""
    notes = " ".join(part for part in (requirement, include, "(*)" * node.is_repeated) if part)
    parts = (paint(node.name, "name"), paint(sanitize(node.version, 60), "plain"), paint(notes, "detail"))
    return " ".join(part for part in parts if part)
