"""`skillpm backup list|restore`."""

from typing import Any

import click

from skillpm.cli.change_output import print_change
from skillpm.cli.command_group import CommandGroup
from skillpm.cli.option_types import NUMBER
from skillpm.cli.options import create_invocation, scope_options
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import sanitize
from skillpm.operations.backup.inventory import list_backup_entries
from skillpm.operations.backup.restore import restore


@click.group(
    cls=CommandGroup,
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
@scope_options
def list_command(**flags: Any) -> None:
    """List what was set aside."""
    call = create_invocation(flags)
    found = list_backup_entries(call.scope)
    if call.console.as_json:
        rows = [
            {
                "id": it.backup.id,
                "name": it.backup.name,
                "path": it.backup.path,
                "origin": it.backup.origin,
                "version": it.version,
                "since": f"{it.created_at:%Y-%m-%dT%H:%M:%SZ}",
            }
            for it in found
        ]
        call.console.print_json({"backups": rows})
        return
    for it in found:
        origin = f"from {it.backup.origin}, " if it.backup.origin else ""
        aside = f"({origin}set aside {it.created_at:%Y-%m-%d %H:%M} UTC)"
        version = [sanitize(it.version, 40)] if it.version else []
        line = "  ".join([it.backup.id, *version, it.backup.path, aside])
        for part in wrap_text(line, indent=2, is_stdout=True):
            call.console.print_line(part)
    if not found:
        call.console.print_message("nothing is set aside")


@command.command("restore", epilog="\b\nExample:\n  skillpm backup restore pdf-1")
@click.argument("slot", metavar="ID")
@click.option("--lock-timeout", type=NUMBER, metavar="SECONDS", help="How long to wait for another skillpm.")
@click.option("--force", is_flag=True, help="Set aside what lies there now (as another backup), and go on.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@scope_options
def restore_command(slot: str, **flags: Any) -> None:
    """Put a backup back where it lay; the name of the skill is enough where there is one of it."""
    call = create_invocation(flags)
    print_change(call, restore(call.scope, call.context, slot, force=flags["force"], dry_run=flags["dry_run"]))
