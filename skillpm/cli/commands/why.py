"""`skillpm why`."""

import click

from skillpm.cli.options import Invocation, scope_options
from skillpm.operations.inspect.dependency_tree import find_dependency_paths


@click.command(
    epilog="""\b
Examples:
  skillpm why git-basics   every path from skills.json to the skill"""
)
@click.argument("name", help="A locked skill.")
@scope_options
def command(call: Invocation, name: str) -> None:
    """Show which skills depend on a skill, as paths from skills.json."""
    paths = find_dependency_paths(call.scope, call.context, name)
    if call.console.as_json:
        call.console.print_json({"name": name, "paths": paths})
        return
    for path in paths:
        call.console.print_line(" → ".join(["skills.json", *path]))
