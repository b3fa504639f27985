"""`skillpm backup list|restore`."""

from typing import Any

import click

from skillpm.cli.change_output import tell_changed
from skillpm.cli.command_group import Family
from skillpm.cli.option_types import AMOUNT
from skillpm.cli.options import call_of, reading
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import show
from skillpm.operations.backup.inventory import list_backups
from skillpm.operations.backup.restore import restore


@click.group(
    cls=Family,
    default="list",
    epilog="""\b
Examples:
  skillpm backup                 the same as backup list
  skillpm backup list            what --force set aside
  skillpm backup restore pdf-1   bring it back""",
)
def command() -> None:
    """List or restore what --force set aside."""


@command.command("list", epilog="\b\nExample:\n  skillpm backup list")
@reading
def list_command(**flags: Any) -> None:
    """List what was set aside."""
    call = call_of(flags)
    found = list_backups(call.scope)
    if call.console.as_json:
        rows = [
            {
                "id": it.backup.id,
                "name": it.backup.name,
                "path": it.backup.path,
                "origin": it.backup.origin,
                "version": it.version,
                "since": f"{it.since:%Y-%m-%dT%H:%M:%SZ}",
            }
            for it in found
        ]
        call.console.data({"backups": rows})
        return
    for it in found:
        origin = f"from {it.backup.origin}, " if it.backup.origin else ""
        aside = f"({origin}set aside {it.since:%Y-%m-%d %H:%M} UTC)"
        version = [show(it.version, 40)] if it.version else []
        line = "  ".join([it.backup.id, *version, it.backup.path, aside])
        for part in wrapped(line, indent=2, is_output=True):
            call.console.line(part)
    if not found:
        call.console.say("nothing is set aside")


@command.command("restore", epilog="\b\nExample:\n  skillpm backup restore pdf-1")
@click.argument("slot", metavar="ID")
@click.option("--lock-timeout", type=AMOUNT, metavar="SECONDS", help="How long to wait for another skillpm.")
@click.option("--force", is_flag=True, help="Set aside what lies there now (as another backup), and go on.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@reading
def restore_command(slot: str, **flags: Any) -> None:
    """Put a backup back where it lay; the name of the skill is enough where there is one of it."""
    call = call_of(flags)
    tell_changed(call, restore(call.scope, call.tools, slot, force=flags["force"], dry_run=flags["dry_run"]))
