"""`skillpm backup list|restore`."""

from typing import Any

import click

from skillpm.cli.change_options import dry_run_option, lock_timeout_option
from skillpm.cli.change_output import print_change
from skillpm.cli.command_group import CommandGroup
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
  skillpm backup                 same as backup list
  skillpm backup list            list all backups
  skillpm backup restore pdf-1   restore one of them""",
)
def command() -> None:
    """List or restore the backups that --force made."""


@command.command("list", epilog="\b\nExample:\n  skillpm backup list")
@scope_options
def list_command(**flags: Any) -> None:
    """List backups."""
    call = create_invocation(flags)
    entries = list_backup_entries(call.scope)
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
            for it in entries
        ]
        call.console.print_json({"backups": rows})
        return
    for it in entries:
        origin = f"from {it.backup.origin}, " if it.backup.origin else ""
        created = f"({origin}backed up {it.created_at:%Y-%m-%d %H:%M} UTC)"
        version = [sanitize(it.version, 40)] if it.version else []
        row = "  ".join([it.backup.id, *version, it.backup.path, created])
        for line in wrap_text(row, indent=2, is_stdout=True):
            call.console.print_line(line)
    if not entries:
        call.console.print_message("no backups")


@command.command("restore", epilog="\b\nExample:\n  skillpm backup restore pdf-1")
@click.argument("backup_id", metavar="ID", help="The backup, or the name of a skill that has one backup.")
@lock_timeout_option
@click.option("--force", is_flag=True, help="Replace the existing folder, after backing it up too.")
@dry_run_option
@scope_options
def restore_command(backup_id: str, **flags: Any) -> None:
    """Restore a backup to its original location."""
    call = create_invocation(flags)
    print_change(call, restore(call.scope, call.context, backup_id, force=flags["force"], dry_run=flags["dry_run"]))
