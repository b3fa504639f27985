"""`skillpm pack`."""

from typing import Any

import click

from skillpm.cli.options import create_invocation, output_options
from skillpm.operations.publish import pack_skill


@click.command(
    epilog="""\b
Examples:
  skillpm pack ./pdf                 ./pdf-1.2.0.tar.gz
  skillpm pack ./pdf --out dist      into another folder
  skillpm pack --out ..              the skill where you are"""
)
@click.argument("path", default=".")
@click.option("--out", metavar="PATH", default="", help="The folder to write to, or the archive itself.")
@output_options
def command(path: str, out: str, **flags: Any) -> None:
    """Pack a skill as a .tar.gz, the same bytes each time. It must be valid."""
    call = create_invocation(flags)
    created = pack_skill(call.context, path, out)
    if call.console.as_json:
        call.console.print_json({"created": [created]})
    elif not call.console.quiet:
        call.console.print_line(f"wrote {created}")
