"""Where in a document a key stands, for whoever has to mend it: `skills.pdf.git` is line 4, column 7."""

import re
from collections.abc import Iterator

from skillpm.core.text import sanitize
from skillpm.formats.json_edit import element_spans, member_spans, skip_whitespace

TABLE_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
ASSIGNMENT = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
MAX_KEY_LENGTH = 80


def find_json_key(text: str, keys: str) -> tuple[int, int] | None:
    """Give line and column of the key at `skills.pdf.git`, as messages write it; None where it is not there."""
    try:
        at = _find_key_below(text, skip_whitespace(text, 0), keys)
    except (ValueError, IndexError, RecursionError):
        return None
    return None if at is None else (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def _find_key_below(text: str, start: int, keys: str) -> int | None:
    """Look for the key below a value. A key may have dots in it: of two that fit, the one that leads on counts."""
    for key, at, value in _children(text, start):
        shown = sanitize(key, MAX_KEY_LENGTH)
        if keys == shown:
            return at
        if keys.startswith(f"{shown}.") and (found := _find_key_below(text, value, keys[len(shown) + 1 :])) is not None:
            return found
    return None


def _children(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Give the key of each member or element, where it begins, and where its value does."""
    if text[start] == "{":
        yield from ((key, at, value) for key, at, value, _ in member_spans(text, start))
    elif text[start] == "[":
        yield from ((str(number), at, at) for number, (at, _) in enumerate(element_spans(text, start)))


def find_toml_key(text: str, keys: str) -> tuple[int, int] | None:
    """Give line and column of a key written at the beginning of a line, or of its table."""
    table, rows = "", dict[str, int]()
    for number, line in enumerate(text.split("\n"), 1):
        found = ""
        if head := TABLE_HEADER.match(line):
            table = _dotted_key(head[2])
            if head[1] == "[[":
                rows[table] = rows.get(table, -1) + 1
                table = f"{table}.{rows[table]}"
            found = table
        elif assigned := ASSIGNMENT.match(line):
            found = ".".join(part for part in (table, _dotted_key(assigned[1])) if part)
        if found and (found == keys or (keys.startswith(f"{found}.") and not head)):
            return number, len(line) - len(line.lstrip()) + 1
    return None


def _dotted_key(key: str) -> str:
    """Give a key as messages write it: without quotes and blanks."""
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
