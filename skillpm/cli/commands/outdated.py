"""`skillpm outdated`."""

from collections.abc import Sequence
from typing import Any

import click

from skillpm.cli.color import Role
from skillpm.cli.options import Invocation, exclude_newer_option, fetch_options
from skillpm.cli.text_layout import format_table
from skillpm.core.text import sanitize
from skillpm.operations.inspect.outdated import OutdatedSkill, find_outdated, install_mismatch_messages
from skillpm.scope.project_files import require_project_in_ci


@click.command(
    epilog="""\b
Examples:
  skillpm outdated               skills that have newer versions
  skillpm outdated pdf deploy    only these skills
  skillpm outdated --exit-code   exit 1 if there are any
  skillpm outdated --exclude-newer '0 days'   include today's versions"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...", help="The skills to check [default: all].")
@click.option("--exit-code", "as_check", is_flag=True, help="Exit with 1 if a skill is outdated.")
@exclude_newer_option
@fetch_options
def command(call: Invocation, names: tuple[str, ...], as_check: bool) -> int:  # noqa: FBT001  (a flag)
    """List outdated skills: the locked version, the one `update` would install, the latest one. Changes nothing."""
    require_project_in_ci(call.scope, call.session.settings)
    outdated = find_outdated(call.project, names)
    if call.console.as_json:
        warnings = list(call.session.reporter.warnings)
        call.console.print_json({"skills": [_to_json(it) for it in outdated], "warnings": warnings})
        return _exit_code(outdated, as_check=as_check)
    if outdated:
        rows = [("skill", "current", "wanted", "latest")]
        rows += [
            (it.name, sanitize(it.current, 40), sanitize(it.compatible, 60), sanitize(it.latest, 60)) for it in outdated
        ]
        roles: tuple[Role, ...] = ("name", "detail", "good", "plain")
        call.console.print_painted(format_table(rows, roles=roles, paint=call.console.paint))
        for it in outdated:
            for note in (it.moved_ref, it.reason, it.error and f"could not be checked: {it.error}"):
                if note:
                    call.console.print_message(f"{it.name}: {note}")
    else:
        call.console.print_message(
            f"{' and '.join(names) or 'everything'} {'are' if len(names) > 1 else 'is'} up to date"
        )
    for message in install_mismatch_messages(call.project, names):
        call.console.print_message(message)
    return _exit_code(outdated, as_check=as_check)


def _exit_code(outdated: Sequence[OutdatedSkill], *, as_check: bool) -> int:
    has_errors = any(it.error for it in outdated)
    return 1 if has_errors or (as_check and outdated) else 0


def _to_json(skill: OutdatedSkill) -> dict[str, Any]:
    value = {
        "name": skill.name,
        "current": skill.current,
        "wanted": skill.compatible,
        "latest": skill.latest,
        "source": skill.source,
    }
    notes = {"held": skill.reason, "moved": skill.moved_ref, "unasked": skill.error}
    return {**value, **{key: note for key, note in notes.items() if note}}
