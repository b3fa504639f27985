"""`skillpm version`."""

import click

from skillpm import __version__
from skillpm.cli.options import Invocation, dry_run_option, output_options
from skillpm.core.shell import shell_word
from skillpm.errors import UsageError
from skillpm.operations.version import change_versions


@click.command(
    epilog="""\b
Examples:
  skillpm version pdf minor            1.2.3 becomes 1.3.0
  skillpm version skills/pdf 2.0.0rc1  a path, and a version
  skillpm version skills patch         all skills of a folder
  skillpm version skills patch --changed
  skillpm version                      the version of skillpm"""
)
@click.argument(
    "words",
    nargs=-1,
    metavar="[SKILL... VERSION]",
    help="Names, paths or folders of skills, and then major, minor, patch or a version.",
)
@click.option("--changed", is_flag=True, help="Only skills with changes since the commit that set their version.")
@dry_run_option
@output_options
def command(call: Invocation, words: tuple[str, ...], *, changed: bool) -> None:
    """Raise the version in the SKILL.md of skills. Nothing else in the files changes."""
    if not words:
        if call.console.as_json:
            call.console.print_json({"version": __version__})
            return
        call.console.print_line(f"skillpm {__version__}")
        return
    *skills, change = words
    if not skills:
        raise UsageError("missing the version", hint=f"e.g. skillpm version {shell_word(change)} minor")
    dry_run = call.flags["dry_run"]
    results = change_versions(call.session, skills, change, only_changed=changed, dry_run=dry_run)
    if call.console.as_json:
        values = [{"name": it.name, "path": it.path, "from": it.before, "to": it.after} for it in results]
        is_changed = any(it.before != it.after for it in results) and not dry_run
        value = values[0] if len(values) == 1 and not changed else {"skills": values}
        call.console.print_json({"changed": is_changed, **value, **({"dryRun": True} if dry_run else {})})
    if not results:
        call.console.print_message("no skill has changed since the commit that set its version")
    for result in () if call.console.as_json or call.console.quiet else results:
        is_changed = result.before != result.after
        before = result.before or "no version"
        call.console.print_line(
            f"{result.name} {before} → {result.after}" if is_changed else f"{result.name} is already {result.after}"
        )
