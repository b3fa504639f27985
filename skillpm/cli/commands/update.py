"""`skillpm update` (upgrade)."""

from functools import partial

import click

from skillpm.cli.change_options import build_change_options
from skillpm.cli.options import (
    Invocation,
    change_options,
    exclude_newer_option,
    merge_options,
    strict_option,
    yes_option,
)
from skillpm.cli.prompts import run_confirmed
from skillpm.cli.reports.change_output import describe_failure, exit_code_of, print_change, report_failures
from skillpm.errors import UsageError
from skillpm.operations.install.update import update


@click.command(
    epilog="""\b
Examples:
  skillpm update             update all skills
  skillpm update pdf         update one skill
  skillpm update --dry-run   show what would change
  skillpm update --format markdown > body.md   for a bot's pull request"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...", help="The skills to update [default: all].")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown"]),
    default="text",
    help="Text, or Markdown with all content that differs, for the description of a pull request.",
)
@exclude_newer_option
@yes_option
@strict_option
@merge_options
@change_options
def command(call: Invocation, names: tuple[str, ...], output_format: str) -> int:
    """Update skills to the newest that skills.json allows: versions in range, branch heads, moved tags.

    An edited skill stops it only if there is something newer for it; "edits": {"NAME": "keep"} in skills.json, or
    "merge", decides for good.
    """
    as_markdown = output_format == "markdown"
    if as_markdown and call.console.as_json:
        raise UsageError("--format markdown and --json cannot be used together")
    options = build_change_options(call)
    run = partial(update, call.project, names, with_files=as_markdown)
    result = run_confirmed(call, options, run)
    if as_markdown:
        from skillpm.cli.reports.review_markdown import render_changes  # noqa: PLC0415

        call.console.print_raw(render_changes(result.updates, [*map(describe_failure, result.failures)]))
    else:
        print_change(call, result)
    return report_failures(call.console, result.failures) or exit_code_of(call, result.left_out)
