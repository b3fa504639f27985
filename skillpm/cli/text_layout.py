"""Layout of text for the width of the terminal: wrapped lines, names in columns, lists and tables.

East Asian wide characters take two columns. That is measured here and not by `rich.cells`, since importing rich would
take longer than `skillpm list` itself.
"""

import os
import sys
from collections.abc import Iterator, Sequence

from skillpm.cli.color import Paint, Role, unpainted
from skillpm.core.text import sanitize

MIN_WIDTH, MAX_WIDTH = 40, 160
# Longer names in a list of skills are printed on a line of their own.
MAX_LISTED_NAME_WIDTH = 32
MIN_DESCRIPTION_WIDTH = 10
# A table whose first column would be narrower than this is printed row by row instead.
MIN_NAME_WIDTH = 16


def line_width() -> int:
    """Return the width for lines of text, in columns: COLUMNS, or the terminal's width, or 80."""
    import shutil  # noqa: PLC0415  (imports bz2 and lzma, and most commands print no long line)

    return max(MIN_WIDTH, min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH))


def description_width(indent: int) -> int:
    """Return the columns that a description has behind an indent; lines in a pipe without COLUMNS are wider."""
    is_pipe = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return max(MIN_DESCRIPTION_WIDTH, (MAX_WIDTH if is_pipe else line_width()) - indent)


def display_width(text: str) -> int:
    """Return the number of columns that sanitized text takes."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def truncate(text: str, width: int) -> str:
    """Return untrusted text sanitized and cut to a number of columns."""
    result = sanitize(text[: width + 1], width)
    while display_width(result) > width:
        result = result.removesuffix("…")[:-1] + "…"
    return result


def _char_width(char: str) -> int:
    import unicodedata  # noqa: PLC0415  (1 MB of tables, and most text is ASCII)

    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


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
    lines: list[str] = []
    for line in text.split("\n"):
        own_indent = len(line) - len(line.lstrip()) if lines else 0
        lines += _wrap_line(line, " " * (own_indent or indent))
    return lines


def _wrap_line(line: str, indent: str) -> Iterator[str]:
    """Wrap a line between words, which are never broken, and before wide characters."""
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


def paint_row(cells: Sequence[str], widths: Sequence[int], roles: Sequence[Role], paint: Paint) -> str:
    """Return sanitized cells as one line: padded to widths, each in its role, with two spaces between them."""
    padding = (" " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True))
    painted = (paint(cell, role) + end for cell, role, end in zip(cells, roles, padding, strict=True))
    return "  ".join(painted).rstrip()


def format_skills(
    rows: Sequence[tuple[Sequence[str], str]],
    *,
    header: Sequence[str] = (),
    roles: Sequence[Role] = ("name", "plain", "detail"),
    paint: Paint = unpainted,
) -> Iterator[str]:
    """Lay out skills, a line each: sanitized cells, the first of which is the name, and an untrusted description.

    The description is truncated as `description_width` says. A long name is printed above the rest of its row, never
    cut, since users copy it.
    Columns that are empty are left out. `header` and `roles` are for the cells.
    """
    columns = zip(*(cells for cells, _ in rows), strict=True)
    widths = [max(map(display_width, column)) for column in columns]
    used = [number for number, width in enumerate(widths) if width]
    widths = [
        max(width, display_width(title)) for width, title in zip(widths, header or [""] * len(widths), strict=True)
    ]
    widths[0] = min(widths[0], MAX_LISTED_NAME_WIDTH)
    widths, roles = [widths[number] for number in used], [*(roles[number] for number in used), "plain"]
    if header:
        titles = [*(header[number] for number in used), "description"]
        yield paint_row(titles, [*widths, 0], ["header"] * len(titles), paint)
    available = description_width(sum(width + 2 for width in widths))
    for cells, description in rows:
        row = [cells[number] for number in used]
        if display_width(row[0]) > widths[0]:
            yield paint(row[0], roles[0])
            row[0] = ""
        yield paint_row([*row, truncate(description, available)], [*widths, 0], roles, paint)


def format_table(
    rows: Sequence[Sequence[str]], *, roles: Sequence[Role] = (), paint: Paint = unpainted
) -> Iterator[str]:
    """Lay out rows, the first of which is the header, as a table; yields the lines. `roles` are those of the columns.

    A first cell that is too long is printed on a line of its own, above the rest of its row. If the other columns leave
    no room for a first column, each row is printed as its first cell and, below it, a line for each other cell.
    """
    roles = roles or ["plain"] * len(rows[0])
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    widest, widths[0] = widths[0], min(widths[0], line_width() - sum(width + 2 for width in widths[1:]))
    if widths[0] < min(widest, MIN_NAME_WIDTH):
        yield from _format_stacked(rows[0], rows[1:], roles, paint)
        return
    yield paint_row(rows[0], widths, ["header"] * len(widths), paint)
    for name, *cells in rows[1:]:
        is_long = display_width(name) > widths[0]
        if is_long:
            yield paint(name, roles[0])
        yield paint_row(["" if is_long else name, *cells], widths, roles, paint)


def _format_stacked(
    header: Sequence[str], rows: Sequence[Sequence[str]], roles: Sequence[Role], paint: Paint
) -> Iterator[str]:
    width = max(map(display_width, header[1:]))
    for row in rows:
        yield paint(row[0], roles[0])
        for title, cell, role in zip(header[1:], row[1:], roles[1:], strict=True):
            yield f"  {paint_row([title, cell], [width, 0], ['detail', role], paint)}"
