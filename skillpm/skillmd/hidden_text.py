"""Invisible characters: instructions that a model reads but a reviewer does not see."""

import re
from collections.abc import Iterator

from skillpm.core.text import HIDDEN, sanitize
from skillpm.skillmd.findings import Finding, error

INVISIBLE = re.compile(rf"(?![\t\n]){HIDDEN.pattern}")
JOINERS = frozenset("\u200c\u200d")
LAST_ASCII = 0x7F


def find_hidden_characters(text: str) -> Iterator[Finding]:
    """Yield a finding for each line with invisible characters."""
    line, counted, last_reported = 1, 0, 0
    for match in INVISIBLE.finditer(text):
        if is_legitimate_joiner(text, match.start()):
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if line != last_reported:
            yield error("hidden-text", f"hidden character {sanitize(match.group())} in this line", line)
            last_reported = line


def is_legitimate_joiner(text: str, at: int) -> bool:
    """Return whether a zero-width joiner is next to a character that may need one: a letter or emoji beyond ASCII."""
    neighbours = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    return text[at] in JOINERS and any(ord(letter) > LAST_ASCII for letter in neighbours)
