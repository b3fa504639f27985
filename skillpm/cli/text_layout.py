"""Layout of text for the width of the terminal: wrapped lines, names in columns, tables."""

import shutil
import sys
from collections.abc import Iterator, Sequence

from skillpm.cli.columns import display_width, pad

MIN_WIDTH, MAX_WIDTH = 40, 160
# A table whose first column would be narrower than this is printed row by row instead.
MIN_NAME_WIDTH = 16


def line_width() -> int:
    """Return the width for lines of text, in columns: COLUMNS, or the terminal's width, or 80."""
    return max(MIN_WIDTH, min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH))


def format_columns(names: Sequence[str], indent: int = 2) -> Iterator[str]:
    """Lay out names in as many columns as fit, sorted downwards as `ls` does; yields the lines."""
    column_width = max(map(len, names), default=0) + 2
    column_count = max(1, (line_width() - indent + 2) // column_width)
    row_count = -(-len(names) // column_count)
    for row in range(row_count):
        yield (" " * indent + "".join(f"{name:{column_width}}" for name in names[row::row_count])).rstrip()


def wrap_text(text: str, *, indent: int, force: bool = False, is_stdout: bool = False) -> list[str]:
    """Return text as lines that fit the terminal, broken between words; continuation lines are indented.

    Text for a file or a pipe is not wrapped unless `force` is set: `grep` needs whole lines. `is_stdout` says whether
    the text goes to stdout or to stderr.
    """
    if not force and not (sys.stdout if is_stdout else sys.stderr).isatty():
        return text.split("\n")
    if all(display_width(line) <= line_width() for line in text.split("\n")):
        return text.split("\n")
    from textwrap import wrap  # noqa: PLC0415  (only for what is long)

    lines: list[str] = []
    for line in text.split("\n"):
        own_indent = len(line) - len(line.lstrip()) if lines else 0
        hanging_indent = " " * (own_indent or indent)
        if display_width(line) > len(line):  # textwrap counts characters, not columns
            lines += _wrap_wide_line(line, hanging_indent)
            continue
        lines += wrap(
            line, line_width(), subsequent_indent=hanging_indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return lines


def _wrap_wide_line(line: str, indent: str) -> Iterator[str]:
    """Wrap a line that contains wide (East Asian) characters: a break before each of them is allowed as well."""
    current, space = "", ""
    for word in line.split(" "):
        for part in _split_wide_chars(word):
            if current.strip() and display_width(current + space + part) > line_width():
                yield current.rstrip()
                current, space = indent, ""
            current += space + part
            space = ""
        space = " "
    yield current.rstrip()


def _split_wide_chars(word: str) -> Iterator[str]:
    """Split a word into parts that cannot be broken: each wide character, and each run of other characters."""
    run = ""
    for char in word:
        if display_width(char) > 1:
            yield from (run, char) if run else (char,)
            run = ""
        else:
            run += char
    if run or not word:
        yield run


def format_table(rows: Sequence[Sequence[str]], *, indent: int = 2) -> Iterator[str]:
    """Lay out rows, the first of which is the header, as a table; yields the lines.

    A first cell that is too long is printed on a line of its own, above the rest of its row. If the other columns leave
    no room for a first column, each row is printed as its first cell and, below it, a line for each other cell.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    widest, widths[0] = widths[0], min(widths[0], line_width() - sum(width + indent for width in widths[1:]))
    if widths[0] < min(widest, MIN_NAME_WIDTH):
        yield from _format_stacked(rows[0], rows[1:])
        return
    for name, *cells in rows:
        is_long = display_width(name) > widths[0]
        if is_long:
            yield name
        row = ["" if is_long else name, *cells]
        yield (" " * indent).join(map(pad, row, widths)).rstrip()


def _format_stacked(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    width = max(map(display_width, header[1:]))
    for row in rows:
        yield row[0]
        for title, cell in zip(header[1:], row[1:], strict=True):
            yield f"  {pad(title, width)}  {cell}"
