"""`skillpm enable`."""

import click

from skillpm.cli.change_options import build_change_options
from skillpm.cli.options import Invocation, change_options, hide_options
from skillpm.cli.reports.change_output import change_to_json, print_change
from skillpm.operations.enable import EnableResult, enable


@hide_options("insecure")
@click.command(
    epilog="""\b
Examples:
  skillpm enable pdf                  for all agent hosts
  skillpm enable pdf --agent codex    for one agent host"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", help="Disabled skills.")
@click.option("--agent", "agents", multiple=True, metavar="ID", help="Enable for this agent host only (repeatable).")
@change_options
def command(call: Invocation, names: tuple[str, ...], agents: tuple[str, ...]) -> None:
    """Enable skills that were disabled."""
    print_enable_result(call, enable(call.project, names, agents, build_change_options(call)))


def print_enable_result(invocation: Invocation, result: EnableResult) -> None:
    """Print the change that `enable` or `disable` made, then all disabled skills."""
    change = result.change
    if invocation.console.as_json:
        value = {"changed": change.is_changed and not change.is_dry_run, "disabled": dict(result.disabled)}
        invocation.console.print_json(
            {**value, **({"dryRun": True} if change.is_dry_run else {}), "actions": change_to_json(change)["actions"]}
        )
        return
    print_change(invocation, change, documents="manifest and registry")
    if not invocation.console.quiet:
        disabled = [
            name if agents is True else f"{name} (for {', '.join(agents)})" for name, agents in result.disabled.items()
        ]
        invocation.console.print_message(f"disabled: {', '.join(disabled)}" if disabled else "no skill is disabled")
