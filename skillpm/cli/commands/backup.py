"""`skillpm backup list|restore`."""

import click

from skillpm.cli.command_group import CommandGroup
from skillpm.cli.options import Invocation, dry_run_option, lock_timeout_option, scope_options
from skillpm.cli.reports.change_output import print_change
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
def list_command(call: Invocation) -> None:
    """List backups."""
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
        call.console.print_wrapped("  ".join([it.backup.id, *version, it.backup.path, created]))
    if not entries:
        call.console.print_message("no backups")


@command.command("restore", epilog="\b\nExample:\n  skillpm backup restore pdf-1")
@click.argument("backup_id", metavar="ID", help="The backup, or the name of a skill that has one backup.")
@lock_timeout_option
@click.option("--merge", is_flag=True, help="Restore only your edits, into what is installed now.")
@click.option("--force", is_flag=True, help="Replace the existing folder, after backing it up too.")
@dry_run_option
@scope_options
def restore_command(call: Invocation, backup_id: str, merge: bool) -> None:  # noqa: FBT001  (a flag)
    """Restore a backup to its original location."""
    force, dry_run = call.flags["force"], call.flags["dry_run"]
    print_change(call, restore(call.project, backup_id, force=force, dry_run=dry_run, merge=merge))
