"""Numbers of a command line that measure something: not negative, and neither `nan` nor `inf`."""

import math
from typing import Any

import click

from skillpm.core.text import sanitize

MAX_DIGITS = 9


class NumberParam(click.ParamType[float]):
    """How many seconds or days."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Give the number. Fails with what was typed."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number >= 0):
            self.fail(f"`{str(value)[:40]}` is no number from 0 upwards", param, ctx)
        return number


NUMBER = NumberParam()


class CountParam(click.ParamType[int]):
    """How many of something there may be, at least `least`."""

    name = "number"

    def __init__(self, minimum: int) -> None:
        self.minimum = minimum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Give the number. Fails with what was typed."""
        text = str(value)
        if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS and int(text) >= self.minimum):
            self.fail(f"`{sanitize(text, 40)}` is no whole number from {self.minimum} upwards", param, ctx)
        return int(text)
