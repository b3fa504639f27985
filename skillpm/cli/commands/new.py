"""`skillpm new`."""

from typing import Any

import click

from skillpm.cli.options import create_invocation, output_options
from skillpm.operations.new import create_skill


@click.command(
    epilog="""\b
Examples:
  skillpm new deploy-check              ./deploy-check/SKILL.md, a valid skill
  skillpm new deploy-check --in skills  below another folder"""
)
@click.argument("name")
@click.option("--in", "folder", metavar="DIR", default="", help="The folder to make it in.")
@output_options
def command(name: str, folder: str, **flags: Any) -> None:
    """Start a skill: a folder with a SKILL.md that is valid from its first line."""
    call = create_invocation(flags)
    created = create_skill(call.context, name, folder)
    if call.console.as_json:
        call.console.print_json({"created": created})
        return
    if call.console.quiet:
        return
    call.console.print_line(f"wrote {created[0]}")
    where = f"./{folder}/{name}" if folder else f"./{name}"
    call.console.print_message(f"next: `skillpm install {where} --link` tries it while you edit it,")
    call.console.print_message("      `skillpm validate` checks it")
