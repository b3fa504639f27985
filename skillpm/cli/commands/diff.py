"""`skillpm diff`."""

from typing import Any

import click

from skillpm.cli.options import Invocation, fetch_options
from skillpm.cli.reports.review_output import (
    change_to_json,
    files_to_json,
    finding_to_json,
    print_change,
    print_file_diffs,
)
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.operations.inspect.diff import (
    LockDiff,
    SkillDiff,
    diff_all_edits,
    diff_all_updates,
    diff_edits,
    diff_locked,
    diff_update,
)
from skillpm.skillmd.capabilities import summarize_findings


@click.command(
    epilog="""\b
Examples:
  skillpm diff                         your edits of all skills
  skillpm diff pdf                     your edits since it was installed
  skillpm diff --update                all that `skillpm update` would change
  skillpm diff pdf --update            what `skillpm update pdf` would change
  skillpm diff --locked                what your uncommitted skills.lock means
  skillpm diff --locked origin/main --format markdown   for a pull request"""
)
@click.argument("name", default="", metavar="[NAME]", help="An installed skill [default: all].")
@click.option("--update", is_flag=True, help="Show what an update would change instead of your edits.")
@click.option(
    "--locked",
    "revisions",
    is_flag=False,
    flag_value="HEAD",
    metavar="[REV]",
    help="Show what skills.lock changes since a git revision [HEAD], or between two: A..B, A...B.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown"]),
    default="text",
    help="With --locked: text, or Markdown for a comment on a pull request.",
)
@fetch_options
def command(call: Invocation, name: str, update: bool, revisions: str | None, output_format: str) -> int:  # noqa: FBT001
    """Show your edits of skills, or what an update or a changed skills.lock means in content. Changes nothing."""
    if update and revisions is not None:
        raise UsageError("--update and --locked cannot be used together")
    if output_format == "markdown" and (revisions is None or call.console.as_json):
        raise UsageError("--format markdown needs --locked, without --json")
    if revisions is not None:
        diff = diff_locked(call.project, revisions, name)
        _print_locked(call, diff, as_markdown=output_format == "markdown")
        return 0 if diff.is_complete else 1
    if not name:
        _print_all(call, (diff_all_updates if update else diff_all_edits)(call.project), update=update)
    else:
        _print_one(call, (diff_update if update else diff_edits)(call.project, name), update=update)
    return 0


def _print_locked(call: Invocation, diff: LockDiff, *, as_markdown: bool) -> None:
    console = call.console
    if console.as_json:
        skills = [{**change_to_json(change), "files": files_to_json(change.files)} for change in diff.changes]
        warnings = list(call.session.reporter.warnings)
        console.print_json({"from": diff.old_label, "to": diff.new_label, "skills": skills, "warnings": warnings})
        return
    if as_markdown:
        from skillpm.cli.reports.review_markdown import render_changes  # noqa: PLC0415

        console.print_raw(render_changes(diff.changes))
        return
    for change in diff.changes:
        print_change(console, change)
    states = f"between {diff.old_label} and {diff.new_label}"
    count = pluralize(len(diff.changes), "locked skill") if diff.changes else "no locked skill"
    console.print_message(f"{count} changed {states}")


def _print_one(call: Invocation, diff: SkillDiff, *, update: bool) -> None:
    if call.console.as_json:
        call.console.print_json(_to_json(diff, update=update))
        return
    _print_capabilities(call, diff)
    print_file_diffs(call.console, diff.files)
    if not diff.files:
        if diff.new_label == "link":
            call.console.print_message(f"{diff.name} is a live link: edits in its folder take effect at once")
        elif update:
            call.console.print_message(f"an update would not change {diff.name} ({diff.old_label})")
        else:
            call.console.print_message(f"{diff.name} is unchanged since it was installed ({diff.old_label})")


def _print_all(call: Invocation, diffs: list[SkillDiff], *, update: bool) -> None:
    if call.console.as_json:
        warnings = list(call.session.reporter.warnings)
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
    value = {"name": diff.name, "from": diff.old_label, "to": diff.new_label, "files": files_to_json(diff.files)}
    return value | {"capabilities": [finding_to_json(each) for each in diff.capabilities]} if update else value
