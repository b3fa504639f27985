"""`skillpm prompt`."""

from typing import Any

import click

from skillpm.cli.option_types import Count
from skillpm.cli.options import call_of
from skillpm.cli.serve_options import mode_option, service_for, serving, style_option
from skillpm.serving.body_modes import Mode


@click.command(
    epilog="""\b
Examples:
  skillpm prompt                    as the specification recommends
  skillpm prompt --style omega      what is installed, and what is not
  skillpm prompt --budget 500       shortened until it costs no more"""
)
@click.option("--budget", type=Count(0), metavar="TOKENS", help="Cost no more than this.")
@style_option
@mode_option
@serving
def command(style: str, mode: Mode | None, budget: int | None, **flags: Any) -> None:
    """Give the catalogue of skills for a system prompt; nothing where there are none."""
    call = call_of(flags)
    prompt = service_for(call).prompt(style=style, mode=mode, budget=budget)
    if call.console.as_json:
        value = {"style": prompt.style, "skills": prompt.skills, "tokens": prompt.tokens, "text": prompt.text}
        call.console.data({**value, "leftOut": prompt.left_out, "shortened": prompt.shortened})
        return
    call.console.block(prompt.text)
    if prompt.shortened:
        what = "1 description is" if prompt.shortened == 1 else f"{prompt.shortened} descriptions are"
        call.console.say(f"{what} cut to fit the budget")
    if prompt.left_out:
        call.console.warning(f"{prompt.left_out} of {prompt.skills + prompt.left_out} skills did not fit the budget")
