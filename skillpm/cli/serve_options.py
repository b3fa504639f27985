"""Options of the commands that serve agents, and the service created from them."""

import os
import sys
from typing import Any

import click

from skillpm.cli.console import Console
from skillpm.cli.options import Invocation, advanced_option, combine_options, scope_options
from skillpm.core.text import sanitize
from skillpm.operations.serve import Viewer, make_service
from skillpm.scope.scope_permissions import unreachable_rule_messages
from skillpm.scope.scope_policy import warn_of_old_policies
from skillpm.serving.approval import Ask
from skillpm.serving.event_log import LOGGER_NAME
from skillpm.serving.renderers.body_modes import MODES
from skillpm.serving.renderers.styles import ALIASES, RENDERERS
from skillpm.serving.results import Loaded
from skillpm.serving.service import SkillService

# The forms in which single hosts print skills; in no help.
style_option = click.option("--style", type=click.Choice([*RENDERERS, *ALIASES]), default="default", hidden=True)
mode_option = click.option("--mode", type=click.Choice(MODES), help="How much of each skill to print.")
profile_option = advanced_option(
    "--profile",
    metavar="NAME",
    default="",
    help="Also apply the permissions of this agent of the host, or of this profile.",
)
# What an agent may see.
viewer_options = combine_options(
    scope_options,
    click.option("--agent", metavar="ID", default="", help="Only what this agent host sees here, and may use."),
    click.option("--host", "agent", hidden=True),  # its old spelling
    profile_option,
)


def create_service(invocation: Invocation, *, check_all: bool = True, is_server: bool = False) -> SkillService:
    """Create the service of a command, and warn about permission rules that never apply and about old policies.

    With `check_all=False`, for a command that serves one skill, the files of the other skills are not read. A server
    keeps its policies refreshed, and asks nobody: its clients are not the person at the terminal.
    """
    flags = invocation.flags
    if invocation.console.verbose:
        show_events(invocation.console)
    service = make_service(
        invocation.scope,
        invocation.session.settings,
        Viewer(profile=flags["profile"], agent=flags["agent"]),
        style=flags.get("style", "default"),
        ask=None if is_server else find_ask(invocation),
        is_refreshed=is_server,
    )
    if check_all:
        service.registry.check(service.visible.values())
    for message in unreachable_rule_messages(service.rules):
        invocation.console.warn(message)
    if not is_server:
        warn_of_old_policies(service.policies, invocation.console.warn)
    for problem in service.registry.problems:
        if not service.rules.hides(os.path.basename(os.path.dirname(problem.path))):
            invocation.console.warn(f"{problem.path}: {problem.message}")
    return service


def show_events(console: Console) -> None:
    """Print what the service logs to stderr: with `--verbose` all of it, else only refusals and problems."""
    import logging  # noqa: PLC0415  (commands start without it)

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            console.log_always(record.getMessage())

    logger = logging.getLogger(LOGGER_NAME)
    logger.setLevel(logging.INFO if console.verbose else logging.WARNING)
    handler = Handler()
    logger.addHandler(handler)
    click.get_current_context().call_on_close(lambda: logger.removeHandler(handler))


def loaded_to_json(loaded: Loaded) -> dict[str, Any]:
    """Return the JSON object of a loaded skill."""
    return {
        "name": loaded.name,
        "title": loaded.title,
        "text": loaded.text,
        "directory": loaded.directory,
        "files": list(loaded.files),
        "mode": loaded.mode,
        "style": loaded.style,
        "truncated": loaded.truncated,
        "references": list(loaded.references),
        "commands": list(loaded.commands),
        "tokens": loaded.tokens,
        "saved": loaded.saved,
        "missing": list(loaded.missing),
    }


def find_ask(invocation: Invocation) -> Ask | None:
    """Return the function that asks a person whether a skill may be loaded; None without a terminal."""
    return _confirm_load if invocation.can_ask(sys.stderr) else None


def _confirm_load(name: str) -> bool:
    return click.confirm(f"permissions require confirmation: load `{sanitize(name, 80)}`?", err=True)


def warn_of_refusals(invocation: Invocation, service: SkillService) -> None:
    """Warn of the skills that were left out since their content is refused."""
    for message in service.refusals.values():
        invocation.console.warn(f"{message}; it is left out")
