"""Text that fits the terminal: lines broken between words, names in columns, both as wide as there is room."""

import shutil
import sys
from collections.abc import Iterator, Sequence

NARROWEST, WIDEST = 40, 160


def room() -> int:
    """Give how many columns a line may have: the terminal's, or what COLUMNS says, or 80."""
    return max(NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, WIDEST))


def columns(names: Sequence[str], indent: int = 2) -> Iterator[str]:
    """Give names line by line, read downwards, in as many columns as fit."""
    widest = max(map(len, names), default=0) + 2
    across = max(1, (room() - indent + 2) // widest)
    down = -(-len(names) // across)
    for row in range(down):
        yield (" " * indent + "".join(f"{name:{widest}}" for name in names[row::down])).rstrip()


def wrapped(text: str, *, indent: int, always: bool = False, is_output: bool = False) -> list[str]:
    """Give lines broken between words; all but the first stand `indent` columns in.

    What goes to a file or a pipe stays as it is, unless `always`: there whoever searches for words wants whole lines.
    `is_output`: it goes to stdout, else to stderr.
    """
    if not always and not (sys.stdout if is_output else sys.stderr).isatty():
        return text.split("\n")
    if all(len(line) <= room() for line in text.split("\n")):
        return text.split("\n")
    from textwrap import wrap  # noqa: PLC0415  (only for what is long)

    lines: list[str] = []
    for line in text.split("\n"):
        inset = len(line) - len(line.lstrip()) if lines else 0
        further = " " * (inset or indent)
        lines += wrap(line, room(), subsequent_indent=further, break_long_words=False, break_on_hyphens=False) or [""]
    return lines


def table(rows: Sequence[Sequence[str]], *, indent: int = 2) -> Iterator[str]:
    """Give rows with their cells one below the other. Where that is too wide, each row is a name, and below it its
    cells by the words of the first row.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + indent * (len(widths) - 1) <= room():
        for row in rows:
            cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
            yield (" " * indent).join(cells).rstrip()
        return
    head = rows[0]
    for row in rows[1:]:
        yield row[0]
        width = max(map(len, head[1:]))
        for word, cell in zip(head[1:], row[1:], strict=True):
            yield f"  {word:{width}}  {cell}"
