"""`skillpm outdated`."""

from collections.abc import Sequence
from typing import Any

import click

from skillpm.cli.change_options import dated, networked
from skillpm.cli.options import call_of
from skillpm.cli.text_layout import table
from skillpm.core.text import show
from skillpm.operations.inspect.outdated import Aged, installed_otherwise, outdated_skills


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
@dated
@networked
def command(names: tuple[str, ...], as_check: bool, **flags: Any) -> int:  # noqa: FBT001  (a flag)
    """Show what could be newer: what is locked, what `update` would take, the newest there is. Changes nothing."""
    call = call_of(flags)
    aged = outdated_skills(call.scope, call.tools, names)
    if call.console.as_json:
        call.console.data({"skills": [_value(it) for it in aged]})
        return _exit_code(aged, as_check=as_check)
    if aged:
        rows = [("skill", "current", "wanted", "latest")]
        rows += [(it.name, show(it.current, 40), show(it.wanted, 60), show(it.latest, 60)) for it in aged]
        for line in table(rows):
            call.console.line(line)
        for it in aged:
            for said in (it.moved, it.held, it.unasked and f"it could not be asked for: {it.unasked}"):
                if said:
                    call.console.say(f"{it.name}: {said}")
    else:
        call.console.say(
            f"{' and '.join(names) or 'everything'} {'are' if len(names) > 1 else 'is'} as new as it can be"
        )
    for said in installed_otherwise(call.scope, call.tools, names):
        call.console.say(said)
    return _exit_code(aged, as_check=as_check)


def _exit_code(aged: Sequence[Aged], *, as_check: bool) -> int:
    is_whole = not any(it.unasked for it in aged)
    return 0 if is_whole and not (as_check and aged) else 1


def _value(it: Aged) -> dict[str, Any]:
    value = {"name": it.name, "current": it.current, "wanted": it.wanted, "latest": it.latest, "source": it.source}
    more = {"held": it.held, "moved": it.moved, "unasked": it.unasked}
    return {**value, **{key: said for key, said in more.items() if said}}
