"""Read the shell blocks of a page as steps: a command, and the output that the page shows.

The setup of a block is a script in a comment before it, `<!-- before` … `-->`, which readers do not see.
A block after `<!-- not run: reason -->` is skipped.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from skillpm.core.values import Value

BLOCK = re.compile(
    r"^<!-- before\n(?P<before>.*?)^-->$"
    r"|^(?P<fence>`{3,})(?P<kind>[a-z]*)\n(?P<text>.*?)^(?P=fence)$"
    r"|^<!-- not run: (?P<reason>[^\n]+) -->$",
    re.MULTILINE | re.DOTALL,
)


class Step(Value):
    """One command of a page."""

    line: int
    command: str
    # None for a block that shows no output; its command has to succeed.
    shown: str | None


def steps_of(page: Path) -> Iterator[Step]:
    """Yield the steps of a page, in order."""
    text = page.read_text(encoding="utf-8")
    skipped = False
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        if block["before"] is not None:
            yield Step(line=line, command=block["before"], shown=None)
        elif block["kind"] == "console" and not skipped:
            yield from read_session(block["text"], line)
        elif block["kind"] == "sh" and not skipped:
            yield Step(line=line, command=block["text"], shown=None)
        skipped = block["reason"] is not None


def read_session(text: str, line: int) -> Iterator[Step]:
    """Split a session into steps: `$ ` begins a command, `> ` continues it, the rest is its output."""
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        if not part.startswith("$ "):
            line += part.count("\n")
            continue
        lines = part.splitlines(keepends=True)
        count = 1
        while count < len(lines) and lines[count].startswith(">"):
            count += 1
        command = "".join([lines[0][2:], *(further[2:] or "\n" for further in lines[1:count])])
        yield Step(line=line, command=command, shown="".join(lines[count:]))
        line += len(lines)
