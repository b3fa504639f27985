"""`skillpm uninstall` (remove, rm)."""

import click

from skillpm.cli.change_options import build_change_options
from skillpm.cli.options import Invocation, change_options, hide_options
from skillpm.cli.reports.change_output import print_change
from skillpm.errors import UsageError
from skillpm.operations.install.uninstall import uninstall


@hide_options("keep", "allowed_rules", "insecure")
@click.command(
    epilog="""\b
Examples:
  skillpm uninstall pdf           from skills.json, skills.lock and disk
  skillpm uninstall acme/skills   what `install acme/skills --all` installed
  skillpm rm pdf docx --dry-run   show what would be removed
  skillpm uninstall --all         all skills of skills.json"""
)
@click.argument(
    "names",
    nargs=-1,
    metavar="[NAME]...",
    help="The skills to remove: names, patterns, owner/repo@name, or a repository of which all were installed.",
)
@click.option("--all", "everything", is_flag=True, help="Remove all skills of skills.json.")
@change_options
def command(call: Invocation, names: tuple[str, ...], *, everything: bool) -> None:
    """Remove skills. Edited skills are removed only with --force, which backs them up."""
    if everything == bool(names):
        problem = "--all and names cannot be used together" if names else "name the skills to remove, or use --all"
        raise UsageError(problem, hint=f"`{call.scope.command('list')}` lists them")
    print_change(call, uninstall(call.project, names, build_change_options(call)))
