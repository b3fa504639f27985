"""`skillpm outdated`."""

from collections.abc import Sequence
from typing import Any

import click

from skillpm.cli.change_options import exclude_newer_option, fetch_options
from skillpm.cli.options import create_invocation
from skillpm.cli.text_layout import format_table
from skillpm.core.text import sanitize
from skillpm.operations.inspect.outdated import OutdatedSkill, find_outdated, install_mismatch_messages


@click.command(
    epilog="""\b
Examples:
  skillpm outdated               what could be newer; nothing is changed
  skillpm outdated pdf deploy    only these
  skillpm outdated --exit-code   exit 1 if anything could
  skillpm outdated --exclude-newer '0 days'   what was published today, too"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--exit-code", "as_check", is_flag=True, help="Exit 1 if something could be newer.")
@exclude_newer_option
@fetch_options
def command(names: tuple[str, ...], as_check: bool, **flags: Any) -> int:  # noqa: FBT001  (a flag)
    """Show what could be newer: what is locked, what `update` would take, the newest there is. Changes nothing."""
    call = create_invocation(flags)
    aged = find_outdated(call.scope, call.context, names)
    if call.console.as_json:
        call.console.print_json({"skills": [_to_json(it) for it in aged]})
        return _exit_code(aged, as_check=as_check)
    if aged:
        rows = [("skill", "current", "wanted", "latest")]
        rows += [
            (it.name, sanitize(it.current, 40), sanitize(it.compatible, 60), sanitize(it.latest, 60)) for it in aged
        ]
        for line in format_table(rows):
            call.console.print_line(line)
        for it in aged:
            for said in (it.moved_ref, it.reason, it.error and f"it could not be asked for: {it.error}"):
                if said:
                    call.console.print_message(f"{it.name}: {said}")
    else:
        call.console.print_message(
            f"{' and '.join(names) or 'everything'} {'are' if len(names) > 1 else 'is'} as new as it can be"
        )
    for said in install_mismatch_messages(call.scope, call.context, names):
        call.console.print_message(said)
    return _exit_code(aged, as_check=as_check)


def _exit_code(outdated: Sequence[OutdatedSkill], *, as_check: bool) -> int:
    is_whole = not any(it.error for it in outdated)
    return 0 if is_whole and not (as_check and outdated) else 1


def _to_json(skill: OutdatedSkill) -> dict[str, Any]:
    value = {
        "name": skill.name,
        "current": skill.current,
        "wanted": skill.compatible,
        "latest": skill.latest,
        "source": skill.source,
    }
    more = {"held": skill.reason, "moved": skill.moved_ref, "unasked": skill.error}
    return {**value, **{key: said for key, said in more.items() if said}}
