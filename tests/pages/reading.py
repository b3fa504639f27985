"""The shell blocks of a page, as steps: what is typed, and what the page says comes back.

A page says what has to be there first in a comment that no reader sees, `<!-- before` … `-->`, a script of its own.
A block behind `<!-- not run: reason -->` is passed over.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from skillpm.core.values import Value

BLOCK = re.compile(
    r"^<!-- before\n(?P<before>.*?)^-->$"
    r"|^(?P<fence>`{3,})(?P<kind>[a-z]*)\n(?P<text>.*?)^(?P=fence)$"
    r"|^<!-- not run: (?P<reason>.+) -->$",
    re.MULTILINE | re.DOTALL,
)


class Step(Value):
    """One command of a page. `says` is None where the page does not say what comes back; it has to work then."""

    line: int
    command: str
    says: str | None


def steps_of(page: Path) -> Iterator[Step]:
    """Give the steps of a page, in order."""
    text = page.read_text(encoding="utf-8")
    skipped = False
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        if block["before"] is not None:
            yield Step(line=line, command=block["before"], says=None)
        elif block["kind"] == "console" and not skipped:
            yield from _typed(block["text"], line)
        elif block["kind"] == "sh" and not skipped:
            yield Step(line=line, command=block["text"], says=None)
        skipped = block["reason"] is not None


def _typed(text: str, line: int) -> Iterator[Step]:
    """Take a session apart: `$ ` begins a command, `> ` goes on with it, the rest is what comes back."""
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        if not part.startswith("$ "):
            line += part.count("\n")
            continue
        lines = part.splitlines(keepends=True)
        count = 1
        while count < len(lines) and lines[count].startswith(">"):
            count += 1
        command = "".join([lines[0][2:], *(further[2:] or "\n" for further in lines[1:count])])
        yield Step(line=line, command=command, says="".join(lines[count:]))
        line += len(lines)
