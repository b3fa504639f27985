"""Columns that fit the terminal, in which a letter of two cells is counted as two."""

import shutil

from skillpm.core.text import sanitize

MIN_WIDTH, MAX_WIDTH = 60, 160


def terminal_width() -> int:
    """Give how many cells a line may have."""
    return max(MIN_WIDTH, min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH))


def display_width(text: str) -> int:
    """Count the cells that safe text takes."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def truncate(text: str, width: int) -> str:
    """Give foreign text made safe and cut to some cells."""
    shown = sanitize(text[: width + 1], width)
    while display_width(shown) > width:
        shown = shown.removesuffix("…")[:-1] + "…"
    return shown


def pad(text: str, width: int) -> str:
    """Fill safe text up with blanks."""
    return text + " " * (width - display_width(text))


def _char_width(char: str) -> int:
    import unicodedata  # noqa: PLC0415  (a megabyte, and most text is plain)

    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
