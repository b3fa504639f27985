"""`skillpm diff`."""

from typing import Any

import click

from skillpm.cli.change_options import fetch_options
from skillpm.cli.options import create_invocation
from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import UsageError
from skillpm.operations.inspect.diff import diff_edits, diff_update

LINE_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    epilog="""\b
Examples:
  skillpm diff pdf            your edits against what was installed
  skillpm diff pdf --update   what `skillpm update pdf` would bring"""
)
@click.argument("name", default="", metavar="NAME")
@click.option("--update", "newer", is_flag=True, help="Against the newest version instead of your edits.")
@fetch_options
def command(name: str, newer: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """Show how a skill differs. Changes nothing."""
    call = create_invocation(flags)
    if not name:
        g = call.scope.flag
        raise UsageError("of which skill?", hint=f"skillpm diff{g} NAME; `skillpm verify{g}` says which were edited")
    found = (diff_update if newer else diff_edits)(call.scope, call.context, name)
    if call.console.as_json:
        files = [{"path": file.path, "change": file.change, "diff": file.diff} for file in found.files]
        call.console.print_json({"name": found.name, "from": found.old_label, "to": found.new_label, "files": files})
        return
    for file in found.files:
        if not file.diff:
            call.console.print_line(f"{file.change}: {sanitize(file.path)} (no text)")
        for line in file.diff.split("\n") if file.diff else ():
            colour = LINE_COLORS.get(line[:1])
            clean = HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", line.replace("\t", "    "))
            call.console.print_line(clean, **({"fg": colour} if colour else {}))
    if not found.files:
        if found.new_label == "link":
            call.console.print_message(f"{name} is a live link: it is what its folder is")
        elif newer:
            call.console.print_message(f"an update would change nothing of {name} ({found.old_label})")
        else:
            call.console.print_message(f"{name} is as it was installed ({found.old_label})")
