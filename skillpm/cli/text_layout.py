"""Text that fits the terminal: lines broken between words, names in columns, both as wide as there is room."""

import shutil
import sys
from collections.abc import Iterator, Sequence

from skillpm.cli.columns import display_width, pad

MIN_WIDTH, MAX_WIDTH = 40, 160
MIN_NAME_WIDTH = 16
"""Columns for names beside which cells can stand."""


def line_width() -> int:
    """Give how many columns a line may have: the terminal's, or what COLUMNS says, or 80."""
    return max(MIN_WIDTH, min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH))


def format_columns(names: Sequence[str], indent: int = 2) -> Iterator[str]:
    """Give names line by line, read downwards, in as many columns as fit."""
    widest = max(map(len, names), default=0) + 2
    across = max(1, (line_width() - indent + 2) // widest)
    down = -(-len(names) // across)
    for row in range(down):
        yield (" " * indent + "".join(f"{name:{widest}}" for name in names[row::down])).rstrip()


def wrap_text(text: str, *, indent: int, force: bool = False, is_stdout: bool = False) -> list[str]:
    """Give lines broken between words; all but the first stand `indent` columns in.

    What goes to a file or a pipe stays as it is, unless `always`: there whoever searches for words wants whole lines.
    `is_output`: it goes to stdout, else to stderr.
    """
    if not force and not (sys.stdout if is_stdout else sys.stderr).isatty():
        return text.split("\n")
    if all(display_width(line) <= line_width() for line in text.split("\n")):
        return text.split("\n")
    from textwrap import wrap  # noqa: PLC0415  (only for what is long)

    lines: list[str] = []
    for line in text.split("\n"):
        inset = len(line) - len(line.lstrip()) if lines else 0
        further = " " * (inset or indent)
        if display_width(line) > len(line):
            lines += _wrap_wide_line(line, further)
            continue
        lines += wrap(
            line, line_width(), subsequent_indent=further, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return lines


def _wrap_wide_line(line: str, indent: str) -> Iterator[str]:
    """Break a line with letters of two cells where their readers are used to it: before each of them, too."""
    here, blank = "", ""
    for word in line.split(" "):
        for part in _split_wide_chars(word):
            if here.strip() and display_width(here + blank + part) > line_width():
                yield here.rstrip()
                here, blank = indent, ""
            here += blank + part
            blank = ""
        blank = " "
    yield here.rstrip()


def _split_wide_chars(word: str) -> Iterator[str]:
    """Give what of a word stays together: a letter of two cells for itself, all others as they stand."""
    here = ""
    for letter in word:
        if display_width(letter) > 1:
            yield from (here, letter) if here else (letter,)
            here = ""
        else:
            here += letter
    if here or not word:
        yield here


def format_table(rows: Sequence[Sequence[str]], *, indent: int = 2) -> Iterator[str]:
    """Give rows with their cells one below the other. A name too long for that stands on a line of its own above its
    cells; where even these are too wide, each row is a name, and below it its cells by the words of the first row.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    widest, widths[0] = widths[0], min(widths[0], line_width() - sum(width + indent for width in widths[1:]))
    if widths[0] < min(widest, MIN_NAME_WIDTH):
        yield from _format_stacked(rows[0], rows[1:])
        return
    gap = " " * indent
    for name, *others in rows:
        is_long = display_width(name) > widths[0]
        if is_long:
            yield name
        row = ["" if is_long else name, *others]
        yield gap.join(map(pad, row, widths)).rstrip()


def _format_stacked(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    width = max(map(display_width, header[1:]))
    for row in rows:
        yield row[0]
        for word, cell in zip(header[1:], row[1:], strict=True):
            yield f"  {pad(word, width)}  {cell}"
