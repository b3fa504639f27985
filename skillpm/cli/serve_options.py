"""What the commands that serve agents share: whose eyes they look through, and asking a person."""

import os
import sys

import click

from skillpm.cli.options import Function, Invocation, scope_options
from skillpm.core.text import sanitize
from skillpm.operations.context.scope_permissions import unreachable_rule_messages
from skillpm.operations.serve import Viewer, make_service
from skillpm.serving.body_modes import MODES
from skillpm.serving.renderers.lookup import ALIASES, RENDERERS
from skillpm.serving.service import SkillService

style_option = click.option(
    "--style", type=click.Choice([*RENDERERS, *ALIASES]), default="default", help="Whose words to use."
)
mode_option = click.option("--mode", type=click.Choice(MODES), help="How much of it.")


def viewer_options(function: Function) -> Function:
    """Give a command the options of one that shows what an agent may see."""
    for option in (
        click.option("--host", metavar="ID", default="", help="What this host reads by itself, see `discover`."),
        click.option("--agent", metavar="ID", default="", help="Without what is disabled for this agent host."),
        click.option("--profile", metavar="NAME", default="", help="With the permissions of this profile, too."),
    ):
        function = option(function)
    return scope_options(function)


def create_service(invocation: Invocation, *, check_all: bool = True) -> SkillService:
    """Make the service of a command; rules that never count are told.

    A command that needs but one skill, and not `all_of_it`, leaves the files of the others alone.
    """
    flags = invocation.flags
    service = make_service(
        invocation.scope,
        invocation.context.settings,
        Viewer(profile=flags["profile"], agent=flags["agent"], host=flags["host"]),
        style=flags.get("style", "default"),
        ask=_confirm_load if _can_prompt(invocation) else None,
    )
    if check_all:
        service.registry.check(service.visible.values())
    for message in unreachable_rule_messages(service.rules):
        invocation.console.warn(message)
    for problem in service.registry.problems:
        if not service.rules.hides(os.path.basename(os.path.dirname(problem.path))):
            invocation.console.warn(f"{problem.path}: {problem.message}")
    return service


def _can_prompt(invocation: Invocation) -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty() and not invocation.console.as_json


def _confirm_load(name: str) -> bool:
    return click.confirm(f"a rule wants you to be asked: load `{sanitize(name, 80)}`?", err=True)
