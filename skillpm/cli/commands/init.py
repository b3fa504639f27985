"""`skillpm init`."""

import click

from skillpm.cli.options import Invocation, scope_options
from skillpm.errors import UsageError
from skillpm.operations.init import init


@click.command(
    epilog="""\b
Examples:
  skillpm init               create skills.json in this folder
  skillpm init services/api  create it in another folder
  skillpm init -g            create it for the user scope"""
)
@click.argument("folder", default="", metavar="[DIR]", help="The folder of the project; created if missing.")
@scope_options
def command(call: Invocation, folder: str) -> None:
    """Start a project by creating an empty skills.json."""
    folders = [path for path in (folder, call.flags["project"]) if path]
    if len(folders) + call.flags["user"] > 1:
        raise UsageError("DIR, --project and --global cannot be used together")
    created, directory, notes = init(call.session, folders[0] if folders else ".", user=call.flags["user"])
    if call.console.as_json:
        call.console.print_json({"created": created, **({"notes": list(notes)} if notes else {})})
        return
    if call.console.quiet:
        return
    call.console.print_line(f"wrote {created[0]}")
    if call.flags["user"]:
        call.console.print_message(f"next: `skillpm install -g SPEC` adds skills to {directory}")
        return
    call.console.print_message(f"next: `skillpm install SPEC` adds skills to {directory};", indent=6)
    call.console.print_message(
        "      commit skills.json and skills.lock; either commit .agent-skills/ as well or add it to .gitignore"
    )
    for note in notes:
        call.console.print_message(note)
