"""Text that a reader does not see and a model does."""

import re
from collections.abc import Iterator

from skillpm.core.text import HIDDEN, sanitize
from skillpm.skillmd.findings import Finding, error

INVISIBLE = re.compile(rf"(?![\t\n]){HIDDEN.pattern}")
JOINERS = frozenset("\u200c\u200d")
LAST_ASCII = 0x7F


def find_hidden_characters(text: str) -> Iterator[Finding]:
    """Find characters that a reader does not see and a model does, one in each line that has any."""
    number, counted, told = 1, 0, 0
    for match in INVISIBLE.finditer(text):
        if is_legitimate_joiner(text, match.start()):
            continue
        number += text.count("\n", counted, match.start())
        counted = match.start()
        if number != told:
            yield error("hidden-text", f"a hidden character, {sanitize(match.group())}, stands in this line", number)
            told = number


def is_legitimate_joiner(text: str, at: int) -> bool:
    """Tell whether a joiner does its work between letters or pictures that need one: never among ASCII."""
    neighbours = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    return text[at] in JOINERS and any(ord(letter) > LAST_ASCII for letter in neighbours)
