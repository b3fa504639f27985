"""`skillpm prompt`."""

from typing import Any

import click

from skillpm.cli.option_types import CountParam
from skillpm.cli.options import create_invocation
from skillpm.cli.serve_options import create_service, mode_option, style_option, viewer_options
from skillpm.serving.body_modes import Mode


@click.command(
    epilog="""\b
Examples:
  skillpm prompt                    as the specification recommends
  skillpm prompt --style omega      what is installed, and what is not
  skillpm prompt --budget 500       shortened until it costs no more"""
)
@click.option("--budget", type=CountParam(0), metavar="TOKENS", help="Cost no more than this.")
@style_option
@mode_option
@viewer_options
def command(style: str, mode: Mode | None, budget: int | None, **flags: Any) -> None:
    """Give the catalogue of skills for a system prompt; nothing where there are none."""
    call = create_invocation(flags)
    prompt = create_service(call).prompt(style=style, mode=mode, budget=budget)
    if call.console.as_json:
        value = {"style": prompt.style, "skills": prompt.skills, "tokens": prompt.tokens, "text": prompt.text}
        call.console.print_json({**value, "leftOut": prompt.left_out, "shortened": prompt.shortened})
        return
    call.console.print_raw(prompt.text)
    if prompt.shortened:
        what = "1 description is" if prompt.shortened == 1 else f"{prompt.shortened} descriptions are"
        call.console.print_message(f"{what} cut to fit the budget")
    if prompt.left_out:
        call.console.warn(f"{prompt.left_out} of {prompt.skills + prompt.left_out} skills did not fit the budget")
