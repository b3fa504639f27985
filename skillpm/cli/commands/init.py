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
  skillpm init               create skills.json in this folder
  skillpm init services/api  create it in another folder
  skillpm init -g            create it for the user scope"""
)
@click.argument("folder", default="", metavar="[DIR]", help="The folder of the project; created if missing.")
@scope_options
def command(folder: str, **flags: Any) -> None:
    """Start a project by creating an empty skills.json."""
    call = create_invocation(flags)
    folders = [path for path in (folder, flags["project"]) if path]
    if len(folders) + flags["user"] > 1:
        raise UsageError("DIR, --project and --global cannot be used together")
    created, directory = init(call.context, folders[0] if folders else ".", user=flags["user"])
    if call.console.as_json:
        call.console.print_json({"created": created})
        return
    if call.console.quiet:
        return
    call.console.print_line(f"wrote {created[0]}")
    if flags["user"]:
        call.console.print_message(f"next: `skillpm install -g SPEC` adds skills to {directory}")
        return
    for line in wrap_text(f"next: `skillpm install SPEC` adds skills to {directory};", indent=6):
        call.console.print_message(line)
    call.console.print_message("      commit skills.json and skills.lock; committing the skills is optional")
