"""`skillpm why`."""

from typing import Any

import click

from skillpm.cli.options import call_of, reading
from skillpm.operations.inspect.dependency_tree import why


@click.command(
    epilog="""\b
Examples:
  skillpm why git-basics   who needs it, from skills.json on"""
)
@click.argument("name")
@reading
def command(name: str, **flags: Any) -> None:
    """Show why a skill is there: the ways that lead to it from what skills.json asks for."""
    call = call_of(flags)
    paths = why(call.scope, call.tools, name)
    if call.console.as_json:
        call.console.data({"name": name, "paths": paths})
        return
    for path in paths:
        call.console.line(" → ".join(["skills.json", *path]))
