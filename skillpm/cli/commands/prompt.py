"""`skillpm prompt`."""

import click

from skillpm.cli.options import Invocation
from skillpm.cli.serve_options import create_service, mode_option, style_option, viewer_options, warn_of_refusals
from skillpm.core.text import pluralize
from skillpm.serving.renderers.body_modes import Mode


@click.command(
    epilog="""\b
Examples:
  skillpm prompt                    in the format of the specification
  skillpm prompt --agent codex      of the skills that Codex sees here
  skillpm prompt --mode compact     one line for each skill
  skillpm prompt --budget 500       in at most 500 tokens
  skillpm prompt --budget 500 --for "review a pull request"
                                    keep the skills that fit this task"""
)
@click.option("--budget", type=click.IntRange(0), metavar="TOKENS", help="Limit the catalog to TOKENS.")
@click.option("--for", "task", metavar="TASK", default="", help="Put the skills that fit TASK first.")
@style_option
@mode_option
@viewer_options
def command(call: Invocation, style: str, mode: Mode | None, budget: int | None, task: str) -> None:
    """Print the skill catalog for a system prompt, or nothing if there are no skills."""
    service = create_service(call)
    prompt = service.prompt(style=style, mode=mode, budget=budget, task=task)
    warn_of_refusals(call, service)
    if call.console.as_json:
        value = {"style": prompt.style, "skills": prompt.skills, "tokens": prompt.tokens, "text": prompt.text}
        cuts = {"leftOut": prompt.left_out, "namedOnly": prompt.named_only, "shortened": prompt.shortened}
        call.console.print_json({**value, **cuts})
        return
    call.console.print_raw(prompt.text)
    if prompt.shortened:
        call.console.print_message(f"{pluralize(prompt.shortened, 'description')} shortened to fit the budget")
    if prompt.named_only:
        call.console.print_message(f"{pluralize(prompt.named_only, 'skill')} listed by name alone")
    if prompt.left_out:
        call.console.warn(f"{prompt.left_out} of {prompt.skills + prompt.left_out} skills did not fit the budget")
