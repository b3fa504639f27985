"""`skillpm new`."""

import os

import click

from skillpm.cli.options import Invocation, output_options
from skillpm.core.shell import shell_word
from skillpm.operations.new import create_skill


@click.command(
    epilog="""\b
Examples:
  skillpm new deploy-check              creates ./deploy-check/SKILL.md
  skillpm new deploy-check --in skills  creates it below another folder
  skillpm new deploy-check --scripts --description 'Checks a deployment.'"""
)
@click.argument("name", help="The name of the skill: lower-case letters, digits and hyphens.")
@click.option("--in", "folder", metavar="DIR", default="", help="The parent folder [default: .].")
@click.option("--description", metavar="TEXT", default="", help="What it does, and when agents should use it.")
@click.option("--references", is_flag=True, help="Also create a file that is read only when it is needed.")
@click.option("--scripts", is_flag=True, help="Also create a script.")
@output_options
def command(call: Invocation, name: str, folder: str, description: str) -> None:
    """Create a new skill: a folder with a valid SKILL.md to edit."""
    created = create_skill(
        call.session,
        name,
        folder,
        description=description,
        with_references=call.flags["references"],
        with_scripts=call.flags["scripts"],
    )
    if call.console.as_json:
        call.console.print_json({"created": created})
        return
    if call.console.quiet:
        return
    for file in created:
        call.console.print_line(f"wrote {file}")
    path = os.path.join(folder, name)
    path = shell_word(path if path.startswith(("/", "./", "../")) else f"./{path}")
    call.console.print_message(f"next: `skillpm install {path} --link` installs it live while you edit it,")
    call.console.print_message("      `skillpm validate` checks it")
