"""`skillpm completion`."""

import os
import sys

import click
from click.shell_completion import get_completion_class

from skillpm.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
SETUP_HINTS = {
    "bash": 'add to ~/.bashrc:  eval "$(skillpm completion bash)"',
    "zsh": 'add to ~/.zshrc, after compinit:  eval "$(skillpm completion zsh)"',
    "fish": "skillpm completion fish > ~/.config/fish/completions/skillpm.fish",
}


@click.command(
    epilog="""\b
Examples:
  skillpm completion bash   ~/.bashrc: eval "$(skillpm completion bash)"
  skillpm completion zsh    ~/.zshrc: eval "$(skillpm completion zsh)"
  skillpm completion fish > ~/.config/fish/completions/skillpm.fish"""
)
@click.argument("shell", type=click.Choice(SHELLS), required=False, help="The shell [default: from $SHELL].")
def command(shell: str | None) -> None:
    """Print a script that completes commands, options, skills, agents and indexes.

    Completion uses local data only; it makes no network requests.
    """
    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    kind = get_completion_class(shell) if shell in SHELLS else None
    if kind is None:
        raise UsageError("no shell given, and $SHELL is not supported", hint=f"skillpm completion {'|'.join(SHELLS)}")
    from skillpm.cli.main import COMPLETION_VARIABLE, cli  # noqa: PLC0415  (it imports this module)

    completion = kind(cli, {}, "skillpm", COMPLETION_VARIABLE)
    click.echo(completion.source_template % completion.source_vars())
    if sys.stdout.isatty():
        click.echo(SETUP_HINTS[shell], err=True)
