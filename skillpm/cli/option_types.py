"""Numbers of a command line that measure something: not negative, and neither `nan` nor `inf`."""

import math
from typing import Any

import click

from skillpm.core.text import show

LONGEST = 9


class Amount(click.ParamType[float]):
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


AMOUNT = Amount()


class Count(click.ParamType[int]):
    """How many of something there may be, at least `least`."""

    name = "number"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Give the number. Fails with what was typed."""
        text = str(value)
        if not (text.isascii() and text.isdigit() and len(text) <= LONGEST and int(text) >= self.least):
            self.fail(f"`{show(text, 40)}` is no whole number from {self.least} upwards", param, ctx)
        return int(text)
