"""`skillpm prompt`."""

import click

from skillpm.cli.options import Invocation
from skillpm.cli.serve_options import create_service, mode_option, style_option, viewer_options
from skillpm.core.text import pluralize
from skillpm.serving.body_modes import Mode


@click.command(
    epilog="""\b
Examples:
  skillpm prompt                    in the format of the specification
  skillpm prompt --style omega      installed and missing skills, as in omega
  skillpm prompt --budget 500       cut to fit 500 tokens"""
)
@click.option("--budget", type=click.IntRange(0), metavar="TOKENS", help="Limit the catalog to TOKENS.")
@style_option
@mode_option
@viewer_options
def command(call: Invocation, style: str, mode: Mode | None, budget: int | None) -> None:
    """Print the skill catalog for a system prompt, or nothing if there are no skills."""
    prompt = create_service(call).prompt(style=style, mode=mode, budget=budget)
    if call.console.as_json:
        value = {"style": prompt.style, "skills": prompt.skills, "tokens": prompt.tokens, "text": prompt.text}
        call.console.print_json({**value, "leftOut": prompt.left_out, "shortened": prompt.shortened})
        return
    call.console.print_raw(prompt.text)
    if prompt.shortened:
        call.console.print_message(f"{pluralize(prompt.shortened, 'description')} shortened to fit the budget")
    if prompt.left_out:
        call.console.warn(f"{prompt.left_out} of {prompt.skills + prompt.left_out} skills did not fit the budget")
