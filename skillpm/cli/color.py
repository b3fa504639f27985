"""Whether output has color, and which: the only place that decides it.

Colors are of the 16 that every terminal theme defines, so that they can be read on light and on dark backgrounds.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, TextIO, get_args

ColorChoice = Literal["auto", "always", "never"]
COLOR_CHOICES: tuple[ColorChoice, ...] = get_args(ColorChoice)
Role = Literal["header", "name", "detail", "good", "notice", "plain"]
# Returns sanitized text as it is displayed in a role.
Paint = Callable[[str, Role], str]

STYLES: dict[Role, dict[str, Any]] = {
    "header": {"bold": True},
    "name": {"fg": "cyan"},
    "detail": {"dim": True},
    "good": {"fg": "green"},
    "notice": {"fg": "yellow"},
    "plain": {},
}


def uses_color(stream: TextIO, choice: ColorChoice) -> bool:
    """Return whether output to a stream is colored.

    `--color` decides; then `NO_COLOR` (no-color.org), then `FORCE_COLOR` and `CLICOLOR_FORCE`; then whether it is a
    terminal that knows escape codes.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def find_color_choice(arguments: Sequence[str]) -> ColorChoice:
    """Return the choice in an unparsed command line, for the error of one that cannot be parsed."""
    choice: ColorChoice = "auto"
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        typed = "never" if word == "--no-color" else following if word == "--color" else word.removeprefix("--color=")
        choice = next((each for each in COLOR_CHOICES if each == typed and word.startswith("--")), choice)
    return choice


def unpainted(text: str, _: Role) -> str:
    """Return the text unchanged: the `Paint` for output without color."""
    return text
