"""Columns that fit the terminal, in which a letter of two cells is counted as two."""

import shutil

from skillpm.core.text import show

NARROWEST, WIDEST = 60, 160


def terminal_width() -> int:
    """Give how many cells a line may have."""
    return max(NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, WIDEST))


def cells(text: str) -> int:
    """Count the cells that safe text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fitted(text: str, room: int) -> str:
    """Give foreign text made safe and cut to some cells."""
    shown = show(text[: room + 1], room)
    while cells(shown) > room:
        shown = shown.removesuffix("…")[:-1] + "…"
    return shown


def padded(text: str, width: int) -> str:
    """Fill safe text up with blanks."""
    return text + " " * (width - cells(text))


def _cells(letter: str) -> int:
    import unicodedata  # noqa: PLC0415  (a megabyte, and most text is plain)

    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
