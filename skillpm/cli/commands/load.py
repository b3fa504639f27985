"""`skillpm load`."""

import click

from skillpm.cli.options import Invocation
from skillpm.cli.serve_options import create_service, loaded_to_json, mode_option, style_option, viewer_options
from skillpm.core.names import is_only_spec
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError
from skillpm.serving.renderers.body_modes import Mode


@click.command(
    epilog="""\b
Examples:
  skillpm load code-review                 its instructions and their location
  skillpm load code-review --mode toon     headings and a line each
  skillpm load fix-issue -- 42 high        with `$ARGUMENTS`, `$0` filled in
  skillpm load pdf --agent opencode        as OpenCode may see it"""
)
@click.argument("name", help="The skill to load.")
@click.argument("arguments", nargs=-1, metavar="[-- ARGS]...", help="Values for the skill's $ARGUMENTS, $0, $1 and on.")
@click.option(
    "--max-length",
    type=click.IntRange(1),
    metavar="N",
    help="Cut the text at N characters [default: 50000, or `serving.max-length`].",
)
@style_option
@mode_option
@viewer_options
def command(
    call: Invocation, name: str, arguments: tuple[str, ...], style: str, mode: Mode | None, max_length: int | None
) -> None:
    """Print a skill as an agent receives it: instructions, folder and files. Nothing in it is executed."""
    try:
        service = create_service(call, check_all=False)
        if max_length is not None:
            service.max_length = max_length
        loaded = service.load(name, mode=mode, style=style, arguments=arguments or None)
    except NotFoundError as error:
        if is_only_spec(name):
            error.hint = (
                f"`skillpm use {shell_word(name)}` prints it without installing it, "
                f"`skillpm show {shell_word(name)}` what it contains"
            )
        raise
    if loaded.taken_for:
        call.console.print_message(
            f"no skill named `{sanitize(loaded.taken_for, 80)}`; loaded `{sanitize(loaded.name, 64)}`"
        )
    if loaded.missing:
        missing = ", ".join(sanitize(item, 60) for item in loaded.missing)
        call.console.warn(f"{sanitize(loaded.name, 64)} has unmet requirements: {missing}")
    if not call.console.as_json:
        call.console.print_raw(loaded.text)
        return
    call.console.print_json(loaded_to_json(loaded))
