"""`skillpm why`."""

import click

from skillpm.cli.options import Invocation, scope_options
from skillpm.core.text import sanitize
from skillpm.operations.inspect.dependency_tree import find_dependency_paths, find_manifests


@click.command(
    epilog="""\b
Examples:
  skillpm why git-basics   every path from skills.json to the skill"""
)
@click.argument("name", help="A locked skill.")
@scope_options
def command(call: Invocation, name: str) -> None:
    """Show which skills depend on a skill, as paths from skills.json."""
    paths, includes = find_dependency_paths(call.project, name)
    if call.console.as_json:
        value = {"name": name, "paths": paths}
        call.console.print_json(value | {"includes": includes} if includes else value)
        return
    for path in paths:
        manifests = " and ".join(find_manifests(call.project, path[0]))
        include = [f"include {sanitize(includes[path[0]])}"] if path[0] in includes else []
        call.console.print_line(" → ".join([manifests, *include, *path]))
