"""`skillpm init`."""

from typing import Any

import click

from skillpm.cli.options import create_invocation, scope_options
from skillpm.cli.text_layout import wrap_text
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
@scope_options
def command(folder: str, **flags: Any) -> None:
    """Start a project: write an empty skills.json."""
    call = create_invocation(flags)
    named = [place for place in (folder, flags["project"]) if place]
    if len(named) + flags["user"] > 1:
        raise UsageError("give one place: DIR, --project DIR or --global")
    created, directory = init(call.context, named[0] if named else ".", user=flags["user"])
    if call.console.as_json:
        call.console.print_json({"created": created})
        return
    if call.console.quiet:
        return
    call.console.print_line(f"wrote {created[0]}")
    if flags["user"]:
        call.console.print_message(f"next: `skillpm install -g SPEC` adds skills to {directory}")
        return
    for line in wrap_text(f"next: `skillpm install SPEC` adds skills to {directory},", indent=6):
        call.console.print_message(line)
    call.console.print_message("      which may be committed or ignored; commit skills.json and skills.lock")
