"""What the commands that serve agents share: whose eyes they look through, and asking a person."""

import os
import sys

import click

from skillpm.cli.options import Call, Function, reading
from skillpm.core.text import show
from skillpm.operations.context.scope_permissions import silent_rules
from skillpm.operations.serve import Eyes, service_of
from skillpm.serving.body_modes import MODES
from skillpm.serving.renderers.lookup import ALIASES, STYLES
from skillpm.serving.service import SkillService

style_option = click.option(
    "--style", type=click.Choice([*STYLES, *ALIASES]), default="default", help="Whose words to use."
)
mode_option = click.option("--mode", type=click.Choice(MODES), help="How much of it.")


def serving(function: Function) -> Function:
    """Give a command the options of one that shows what an agent may see."""
    for option in (
        click.option("--host", metavar="ID", default="", help="What this host reads by itself, see `discover`."),
        click.option("--agent", metavar="ID", default="", help="Without what is disabled for this agent host."),
        click.option("--profile", metavar="NAME", default="", help="With the permissions of this profile, too."),
    ):
        function = option(function)
    return reading(function)


def service_for(call: Call, *, all_of_it: bool = True) -> SkillService:
    """Make the service of a command; rules that never count are told.

    A command that needs but one skill, and not `all_of_it`, leaves the files of the others alone.
    """
    flags = call.flags
    service = service_of(
        call.scope,
        call.tools.settings,
        Eyes(profile=flags["profile"], agent=flags["agent"], host=flags["host"]),
        style=flags.get("style", "default"),
        ask=_ask if _can_ask(call) else None,
    )
    if all_of_it:
        service.registry.check(service.visible.values())
    for message in silent_rules(service.rules):
        call.console.warning(message)
    for problem in service.registry.problems:
        if not service.rules.hides(os.path.basename(os.path.dirname(problem.path))):
            call.console.warning(f"{problem.path}: {problem.message}")
    return service


def _can_ask(call: Call) -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty() and not call.console.as_json


def _ask(name: str) -> bool:
    return click.confirm(f"a rule wants you to be asked: load `{show(name, 80)}`?", err=True)
