"""`skillpm new`."""

from typing import Any

import click

from skillpm.cli.options import call_of, telling
from skillpm.operations.new import new


@click.command(
    epilog="""\b
Examples:
  skillpm new deploy-check              ./deploy-check/SKILL.md, a valid skill
  skillpm new deploy-check --in skills  below another folder"""
)
@click.argument("name")
@click.option("--in", "folder", metavar="DIR", default="", help="The folder to make it in.")
@telling
def command(name: str, folder: str, **flags: Any) -> None:
    """Start a skill: a folder with a SKILL.md that is valid from its first line."""
    call = call_of(flags)
    created = new(call.tools, name, folder)
    if call.console.as_json:
        call.console.data({"created": created})
        return
    if call.console.quiet:
        return
    call.console.line(f"wrote {created[0]}")
    where = f"./{folder}/{name}" if folder else f"./{name}"
    call.console.say(f"next: `skillpm install {where} --link` tries it while you edit it,")
    call.console.say("      `skillpm validate` checks it")
