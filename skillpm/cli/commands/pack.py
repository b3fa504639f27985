"""`skillpm pack`."""

import click

from skillpm.cli.options import Invocation, output_options, sign_option
from skillpm.publishing.pack import pack_skill
from skillpm.publishing.signing import load_signing_key


@click.command(
    epilog="""\b
Examples:
  skillpm pack ./pdf                 creates ./pdf-1.2.0.tar.gz
  skillpm pack ./pdf --out dist      creates it in another folder
  skillpm pack --out ..              packs the current folder"""
)
@click.argument("path", default=".", help="The folder of the skill [default: .].")
@click.option("--out", metavar="PATH", default="", help="The archive to write, or its folder [default: .].")
@sign_option
@output_options
def command(call: Invocation, path: str, out: str) -> None:
    """Create a reproducible .tar.gz archive of a valid skill."""
    created = pack_skill(call.session, path, out, load_signing_key(call.session, call.flags["sign"]))
    if call.console.as_json:
        call.console.print_json({"created": [created]})
    elif not call.console.quiet:
        call.console.print_line(f"wrote {created}")
