"""Numbers of a command line that measure something: not negative, and neither `nan` nor `inf`."""

import math
from typing import Any

import click


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
