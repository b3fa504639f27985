"""`skillpm diff`."""

from typing import Any

import click

from skillpm.cli.change_options import fetch_options
from skillpm.cli.options import Invocation
from skillpm.cli.review_output import finding_to_json, print_file_diffs
from skillpm.core.text import sanitize
from skillpm.operations.inspect.diff import SkillDiff, diff_all_edits, diff_all_updates, diff_edits, diff_update
from skillpm.skillmd.capability_changes import summarize_findings


@click.command(
    epilog="""\b
Examples:
  skillpm diff                your edits of all skills
  skillpm diff pdf            your edits since it was installed
  skillpm diff --update       everything that `skillpm update` would change
  skillpm diff pdf --update   what `skillpm update pdf` would change"""
)
@click.argument("name", default="", metavar="[NAME]", help="An installed skill [default: all].")
@click.option("--update", is_flag=True, help="Show what an update would change instead of your edits.")
@fetch_options
def command(call: Invocation, name: str, update: bool) -> None:  # noqa: FBT001  (a flag of the command line)
    """Show your edits of skills, or what an update would change. Changes nothing."""
    if not name:
        _print_all(call, (diff_all_updates if update else diff_all_edits)(call.scope, call.context), update=update)
        return
    diff = (diff_update if update else diff_edits)(call.scope, call.context, name)
    if call.console.as_json:
        call.console.print_json(_to_json(diff, update=update))
        return
    _print_capabilities(call, diff)
    print_file_diffs(call.console, diff.files)
    if not diff.files:
        if diff.new_label == "link":
            call.console.print_message(f"{name} is a live link: edits in its folder take effect at once")
        elif update:
            call.console.print_message(f"an update would not change {name} ({diff.old_label})")
        else:
            call.console.print_message(f"{name} is unchanged since it was installed ({diff.old_label})")


def _print_all(call: Invocation, diffs: list[SkillDiff], *, update: bool) -> None:
    if call.console.as_json:
        warnings = list(call.context.reporter.warnings)
        call.console.print_json({"skills": [_to_json(diff, update=update) for diff in diffs], "warnings": warnings})
        return
    for diff in diffs:
        labels = " → ".join(sanitize(label, 60) for label in (diff.old_label or "none", diff.new_label or "none"))
        call.console.print_line(f"{diff.name}: {labels}", bold=True)
        _print_capabilities(call, diff)
        print_file_diffs(call.console, diff.files)
    if not diffs:
        nothing = "an update would change nothing" if update else "no skill was edited since it was installed"
        call.console.print_message(nothing)


def _print_capabilities(call: Invocation, diff: SkillDiff) -> None:
    if diff.capabilities:
        call.console.print_line(f"may now: {summarize_findings(diff.capabilities)}", fg="yellow")


def _to_json(diff: SkillDiff, *, update: bool) -> dict[str, Any]:
    files = [{"path": file.path, "change": file.change, "diff": file.diff} for file in diff.files]
    value = {"name": diff.name, "from": diff.old_label, "to": diff.new_label, "files": files}
    return value | {"capabilities": [finding_to_json(each) for each in diff.capabilities]} if update else value
