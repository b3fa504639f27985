"""Display width of text in a terminal, where East Asian wide characters take two columns.

Measured here and not by `rich.cells`, since importing rich would take longer than `skillpm list` itself.
"""

import shutil

from skillpm.core.text import sanitize

MIN_WIDTH, MAX_WIDTH = 60, 160


def terminal_width() -> int:
    """Return the width for lists, in columns: COLUMNS, or the terminal's width, or 80."""
    return max(MIN_WIDTH, min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH))


def display_width(text: str) -> int:
    """Return the number of columns that sanitized text takes."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def truncate(text: str, width: int) -> str:
    """Return untrusted text sanitized and cut to a number of columns."""
    result = sanitize(text[: width + 1], width)
    while display_width(result) > width:
        result = result.removesuffix("…")[:-1] + "…"
    return result


def pad(text: str, width: int) -> str:
    """Pad sanitized text with spaces to a number of columns."""
    return text + " " * (width - display_width(text))


def _char_width(char: str) -> int:
    import unicodedata  # noqa: PLC0415  (1 MB of tables, and most text is ASCII)

    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
