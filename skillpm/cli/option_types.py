"""Option types for numbers: neither negative nor `nan` nor `inf`."""

import math
from typing import Any

import click

from skillpm.core.text import sanitize

MAX_DIGITS = 9


class NumberParam(click.ParamType[float]):
    """A number of seconds or days, 0 or more."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; raise `BadParameter` for anything else."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number >= 0):
            self.fail(f"`{str(value)[:40]}` is not a number of 0 or more", param, ctx)
        return number


NUMBER = NumberParam()


class CountParam(click.ParamType[int]):
    """A whole number of at least `minimum`."""

    name = "number"

    def __init__(self, minimum: int) -> None:
        self.minimum = minimum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; raise `BadParameter` for anything else."""
        text = str(value)
        if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS and int(text) >= self.minimum):
            self.fail(f"`{sanitize(text, 40)}` is not a whole number of {self.minimum} or more", param, ctx)
        return int(text)
