"""`skillpm diff`."""

import click

from skillpm.cli.change_options import fetch_options
from skillpm.cli.options import Invocation
from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import UsageError
from skillpm.operations.inspect.diff import diff_edits, diff_update

LINE_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    epilog="""\b
Examples:
  skillpm diff pdf            your edits since it was installed
  skillpm diff pdf --update   what `skillpm update pdf` would change"""
)
@click.argument("name", default="", metavar="NAME", help="An installed skill.")
@click.option("--update", is_flag=True, help="Show what an update would change instead of your edits.")
@fetch_options
def command(call: Invocation, name: str, update: bool) -> None:  # noqa: FBT001  (a flag of the command line)
    """Show your edits of a skill, or what an update would change. Changes nothing."""
    if not name:
        g = call.scope.flag
        raise UsageError("no skill given", hint=f"skillpm diff{g} NAME; `skillpm verify{g}` lists the edited skills")
    diff = (diff_update if update else diff_edits)(call.scope, call.context, name)
    if call.console.as_json:
        files = [{"path": file.path, "change": file.change, "diff": file.diff} for file in diff.files]
        call.console.print_json({"name": diff.name, "from": diff.old_label, "to": diff.new_label, "files": files})
        return
    for file in diff.files:
        if not file.diff:
            call.console.print_line(f"{file.change}: {sanitize(file.path)} (binary or too large to compare)")
        for line in file.diff.split("\n") if file.diff else ():
            color = LINE_COLORS.get(line[:1])
            clean = HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", line.replace("\t", "    "))
            call.console.print_line(clean, **({"fg": color} if color else {}))
    if not diff.files:
        if diff.new_label == "link":
            call.console.print_message(f"{name} is a live link: edits in its folder take effect at once")
        elif update:
            call.console.print_message(f"an update would not change {name} ({diff.old_label})")
        else:
            call.console.print_message(f"{name} is unchanged since it was installed ({diff.old_label})")
