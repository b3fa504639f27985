"""Line and column of a key in a document: error messages name `skills.pdf.git`, editors open line 4, column 7."""

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.formats.editing.json_edit import child_spans, skip_whitespace

TABLE_HEADER = lazy_pattern(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
ASSIGNMENT = lazy_pattern(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
MAX_KEY_LENGTH = 80


def find_json_key(text: str, keys: str) -> tuple[int, int] | None:
    """Return line and column, from 1, of a key as messages name it (`skills.pdf.git`); None if it is not found."""
    try:
        offset = _find_key_below(text, skip_whitespace(text, 0), keys)
    except (ValueError, IndexError, RecursionError):
        return None
    return None if offset is None else (text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _find_key_below(text: str, start: int, keys: str) -> int | None:
    """Return the offset of a key below the value at `start`, or None."""
    for key, key_start, value_start, _ in child_spans(text, start):
        displayed = sanitize(key, MAX_KEY_LENGTH)
        if keys == displayed:
            return key_start
        if keys.startswith(f"{displayed}."):
            # A key may contain dots, so this one may not be the right prefix: go on if the rest is not below it.
            offset = _find_key_below(text, value_start, keys[len(displayed) + 1 :])
            if offset is not None:
                return offset
    return None


def find_toml_key(text: str, keys: str) -> tuple[int, int] | None:
    """Return line and column of a key, or of the inline value that contains it; None if it is not found."""
    table, rows = "", dict[str, int]()
    for number, line in enumerate(text.split("\n"), 1):
        path = ""
        if header := TABLE_HEADER.match(line):
            table = _dotted_key(header[2])
            if header[1] == "[[":
                rows[table] = rows.get(table, -1) + 1
                table = f"{table}.{rows[table]}"
            path = table
        elif assignment := ASSIGNMENT.match(line):
            path = ".".join(part for part in (table, _dotted_key(assignment[1])) if part)
        if path and (path == keys or (keys.startswith(f"{path}.") and not header)):
            return number, len(line) - len(line.lstrip()) + 1
    return None


def _dotted_key(key: str) -> str:
    """Return a dotted key as messages write it: without quotes and spaces."""
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
