"""`skillpm init`."""

import os
from typing import Any

import click

from skillpm.cli.common import call_of, reading
from skillpm.operations.init import init


@click.command(
    epilog="""\b
Examples:
  skillpm init               write skills.json here
  skillpm init services/api  write it there, making the folder"""
)
@click.argument("folder", default=".", metavar="[DIR]")
@reading
def command(folder: str, **flags: Any) -> None:
    """Start a project: write an empty skills.json."""
    call = call_of(flags)
    created = init(call.tools, folder)
    if call.console.as_json:
        call.console.data({"created": created})
        return
    call.console.line(f"wrote {created[0]}")
    skills = os.path.join(os.path.dirname(created[0]), ".agent-skills")
    call.console.say(f"next: `skillpm install SPEC` adds skills to {skills},")
    call.console.say("      which may be committed or ignored; commit skills.json and skills.lock")
