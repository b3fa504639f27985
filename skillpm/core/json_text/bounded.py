"""Parse JSON of bounded cost: as Python objects, some documents take thirty times their size."""

import json
from typing import Any

from skillpm.core.limits import MAX_JSON_TOKENS

TOO_MANY_VALUES = f"too many values (more than {MAX_JSON_TOKENS} brackets, commas and colons)"


def has_too_many_values(text: str) -> bool:
    """Return whether a JSON text has more values than any document of skillpm; those in strings count, too."""
    return len(text) > MAX_JSON_TOKENS and sum(map(text.count, "{[,:")) > MAX_JSON_TOKENS


def load_json(text: str) -> Any:
    """Return the value of a JSON text. Raises `ValueError` if it is invalid or has too many values."""
    if has_too_many_values(text):
        raise ValueError(TOO_MANY_VALUES)
    return json.loads(text)
