"""`skillpm init`."""

from typing import Any

import click

from skillpm.cli.options import call_of, reading
from skillpm.cli.text_layout import wrapped
from skillpm.errors import UsageError
from skillpm.operations.init import init


@click.command(
    epilog="""\b
Examples:
  skillpm init               write skills.json here
  skillpm init services/api  write it there, making the folder
  skillpm init -g            write your own, for skills everywhere"""
)
@click.argument("folder", default="", metavar="[DIR]")
@reading
def command(folder: str, **flags: Any) -> None:
    """Start a project: write an empty skills.json."""
    call = call_of(flags)
    named = [place for place in (folder, flags["project"]) if place]
    if len(named) + flags["user"] > 1:
        raise UsageError("give one place: DIR, --project DIR or --global")
    created, directory = init(call.tools, named[0] if named else ".", user=flags["user"])
    if call.console.as_json:
        call.console.data({"created": created})
        return
    if call.console.quiet:
        return
    call.console.line(f"wrote {created[0]}")
    if flags["user"]:
        call.console.say(f"next: `skillpm install -g SPEC` adds skills to {directory}")
        return
    for line in wrapped(f"next: `skillpm install SPEC` adds skills to {directory},", indent=6):
        call.console.say(line)
    call.console.say("      which may be committed or ignored; commit skills.json and skills.lock")
