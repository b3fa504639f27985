"""`skillpm outdated`."""

from typing import Any

import click

from skillpm.cli.changing import dated, networked
from skillpm.cli.common import call_of
from skillpm.cli.fitting import table
from skillpm.documents.text import show
from skillpm.operations.aging import Aged, outdated_skills


@click.command(
    epilog="""\b
Examples:
  skillpm outdated               what could be newer; nothing is changed
  skillpm outdated --exit-code   exit 1 if anything could
  skillpm outdated --exclude-newer '0 days'   what was published today, too"""
)
@click.option("--exit-code", "as_check", is_flag=True, help="Exit 1 if something could be newer.")
@dated
@networked
def command(as_check: bool, **flags: Any) -> int:  # noqa: FBT001  (a flag of the command line)
    """Show what could be newer: what is locked, what `update` would take, the newest there is. Changes nothing."""
    call = call_of(flags)
    aged = outdated_skills(call.scope, call.tools)
    if call.console.as_json:
        call.console.data({"skills": [_value(it) for it in aged]})
    elif aged:
        rows = [("skill", "current", "wanted", "latest")]
        rows += [(it.name, show(it.current, 40), show(it.wanted, 60), show(it.latest, 60)) for it in aged]
        for line in table(rows):
            call.console.line(line)
        for it in aged:
            if it.held:
                call.console.say(f"{it.name}: {it.held}")
    else:
        call.console.say("everything is as new as it can be")
    return 1 if as_check and aged else 0


def _value(it: Aged) -> dict[str, Any]:
    value = {"name": it.name, "current": it.current, "wanted": it.wanted, "latest": it.latest, "source": it.source}
    return {**value, "held": it.held} if it.held else value
