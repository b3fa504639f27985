"""Invisible characters: instructions that a model reads but a reviewer does not see."""

from collections.abc import Iterator

from skillpm.core.text import HIDDEN, sanitize
from skillpm.skillmd.findings import Finding, error


def find_hidden_characters(text: str) -> Iterator[Finding]:
    """Yield a finding for each line with invisible characters."""
    line, counted, last_reported = 1, 0, 0
    for match in HIDDEN.finditer(text):
        if match.group() in "\t\n":
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if line != last_reported:
            yield error("hidden-text", f"hidden character {sanitize(match.group())} in this line", line)
            last_reported = line
