"""`skillpm completion`."""

import os
import sys

import click
from click.shell_completion import get_completion_class

from skillpm.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
SETUP_HINTS = {
    "bash": 'add to ~/.bashrc:  eval "$(skillpm completion bash)"',
    "zsh": 'add to ~/.zshrc, behind compinit:  eval "$(skillpm completion zsh)"',
    "fish": "skillpm completion fish > ~/.config/fish/completions/skillpm.fish",
}


@click.command(
    epilog="""\b
Examples:
  skillpm completion bash   ~/.bashrc: eval "$(skillpm completion bash)"
  skillpm completion zsh    ~/.zshrc: eval "$(skillpm completion zsh)"
  skillpm completion fish > ~/.config/fish/completions/skillpm.fish"""
)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def command(shell: str | None) -> None:
    """Print what teaches a shell to complete commands, options, skills, agents and indexes.

    Without SHELL it is the one you use. Names come from this machine alone: no network is asked.
    """
    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    kind = get_completion_class(shell) if shell in SHELLS else None
    if kind is None:
        raise UsageError("which shell?", hint=f"skillpm completion {'|'.join(SHELLS)}")
    from skillpm.cli.main import cli  # noqa: PLC0415  (which loads this module)

    maker = kind(cli, {}, "skillpm", "_SKILLPM_COMPLETE")
    click.echo(maker.source_template % maker.source_vars())
    if sys.stdout.isatty():
        click.echo(SETUP_HINTS[shell], err=True)
