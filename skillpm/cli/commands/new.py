"""`skillpm new`."""

import click

from skillpm.cli.options import Invocation, output_options
from skillpm.operations.new import create_skill


@click.command(
    epilog="""\b
Examples:
  skillpm new deploy-check              creates ./deploy-check/SKILL.md
  skillpm new deploy-check --in skills  creates it below another folder"""
)
@click.argument("name", help="The name of the skill: lower-case letters, digits and hyphens.")
@click.option("--in", "folder", metavar="DIR", default="", help="The parent folder [default: .].")
@output_options
def command(call: Invocation, name: str, folder: str) -> None:
    """Create a new skill: a folder with a valid SKILL.md to edit."""
    created = create_skill(call.context, name, folder)
    if call.console.as_json:
        call.console.print_json({"created": created})
        return
    if call.console.quiet:
        return
    call.console.print_line(f"wrote {created[0]}")
    path = f"./{folder}/{name}" if folder else f"./{name}"
    call.console.print_message(f"next: `skillpm install {path} --link` installs it live while you edit it,")
    call.console.print_message("      `skillpm validate` checks it")
