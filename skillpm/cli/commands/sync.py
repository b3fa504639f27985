"""`skillpm sync`; `ci` is `sync --frozen`."""

from functools import partial

import click

from skillpm.cli.change_options import build_change_options
from skillpm.cli.options import (
    Invocation,
    change_options,
    exclude_newer_option,
    make_lock_policy_options,
    merge_options,
    strict_option,
    yes_option,
)
from skillpm.cli.prompts import run_confirmed
from skillpm.cli.reports.change_output import exit_code_of, print_change
from skillpm.operations.install.sync import sync
from skillpm.scope.project import Project
from skillpm.scope.project_files import missing_project_message, require_project_in_ci


@click.command(
    epilog="""\b
Examples:
  skillpm sync             install what skills.lock specifies; lock new skills
  skillpm sync --frozen    for CI: use the lockfile as is, or fail
  skillpm sync --offline   use only cached content
  skillpm sync --group review   only the skills of this group
  skillpm sync --dry-run   show what would be done"""
)
@click.option(
    "--group", "groups", multiple=True, metavar="NAME", help="Install only this group of skills.json (repeatable)."
)
@click.option("--reviewed", is_flag=True, help="Refuse skills whose content is not reviewed, even if installed.")
@click.option("--inexact", is_flag=True, help="Do not remove skills that are not in the lockfile.")
@exclude_newer_option
@yes_option
@strict_option
@make_lock_policy_options(click.option)
@merge_options
@change_options
def command(call: Invocation) -> int:
    """Install what the lockfile specifies, and lock what is new in skills.json.

    Installs missing skills, replaces skills whose version differs, and removes skills that are no longer locked.
    `ci` is `sync --frozen`. An edited skill stops it only where the edit would be
    overwritten; "edits": {"NAME": "keep"} in skills.json, or "merge", decides for good.
    """
    scope, options = call.scope, build_change_options(call, locked_in_ci=True)
    require_project_in_ci(scope, call.session.settings)
    result = run_confirmed(call, options, partial(sync, Project(scope, call.session)))
    if scope.is_fallback:
        missing = missing_project_message(call.session.settings)
        call.console.print_message(f"{missing}; used the user scope (as -g does)")
    print_change(call, result)
    if not result.is_changed:
        from skillpm.cli.answer_preparation import prepare_sync_answer  # noqa: PLC0415  (a change prepares nothing)

        prepare_sync_answer(call, scope)
    return exit_code_of(call, result.left_out)
