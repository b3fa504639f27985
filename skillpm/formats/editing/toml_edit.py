"""Edits of hand-written TOML with `tomlkit`: set or remove one key, and keep comments and order.

Users write a comment above what it is about; tomlkit attaches it to the table before it. New keys and rows are
therefore inserted before trailing comments, never between a comment and the table it describes.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, Item, Table, Whitespace

from skillpm.core.json_text.decoder import parse_toml
from skillpm.core.shell import shell_word
from skillpm.errors import DocumentError


def set_key(text: str, file: str, keys: tuple[str, ...], value: Any) -> str:
    """Return the text with the value at `keys` set; missing tables on the path are created."""
    document = _parse_document(text, file)
    if len(keys) == 1 and keys[0] not in document:
        return _insert_top_level_key(text, document, keys[0], value)
    table: Any = document
    for key in keys[:-1]:
        if key not in table:
            table[key] = tomlkit.table()
        table = table[key]
        if not isinstance(table, Mapping):
            raise DocumentError("expected a table", where=f"{file}: {'.'.join(keys[:-1])}")
    if keys[-1] in table:
        table[keys[-1]] = value
    else:
        inner = table.value if isinstance(table, Table) else None
        tail = _detach_trailing_comments(inner) if isinstance(inner, Container) else []
        table[keys[-1]] = value
        if isinstance(inner, Container):
            inner.body.extend(tail)
    return document.as_string()


def remove_key(text: str, file: str, keys: tuple[str, ...]) -> str:
    """Return the text without the key; unchanged if there is none."""
    document = _parse_document(text, file)
    table: Any = document
    for key in keys[:-1]:
        table = table.get(key, {})
        if not isinstance(table, Mapping):
            raise DocumentError("expected a table", where=f"{file}: {'.'.join(keys[:-1])}")
    if keys[-1] not in table:
        return text
    del table[keys[-1]]
    return document.as_string()


def set_row(text: str, file: str, key: str, row: Mapping[str, str]) -> str:
    """Return the text with a row of an array of tables updated if there is one of this `name`, else appended."""
    document = _parse_document(text, file)
    rows = _rows_at(document, file, key)
    _check_duplicate_rows(text, file, key, row["name"], rows or ())
    for existing in rows or ():
        if existing.get("name") == row["name"]:
            existing.update({word: value for word, value in row.items() if existing.get(word) != value})
            return document.as_string()
    table = tomlkit.table() if rows is None or isinstance(rows, AoT) else tomlkit.inline_table()
    table.update(row)
    if isinstance(rows, AoT) and len(rows):
        last = rows[-1].value
        tail = _detach_trailing_comments(last)
        if not text.endswith("\n") and not tail:
            return f"{text}\n\n[[{key}]]\n{table.as_string()}"
        rows.append(table)
        last.body.append((None, Whitespace("\n")))
        rows[-1].value.body.extend(tail)
    elif rows is None:
        gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[[{key}]]\n{table.as_string()}"
    else:
        rows.append(table)
    return document.as_string()


def remove_row(text: str, file: str, key: str, name: str) -> str:
    """Return the text without the rows of that name; comments above the next row stay."""
    while (rest := _remove_first_row(text, file, key, name)) != text:
        text = rest
    return text


def _remove_first_row(text: str, file: str, key: str, name: str) -> str:
    document = _parse_document(text, file)
    rows = _rows_at(document, file, key)
    for number, row in enumerate(rows or ()):
        if row.get("name") == name:
            body = row.as_string()
            if isinstance(rows, AoT) and text.count(body) == 1:
                at = text.index(body)
                comments = "".join(item.as_string() for _, item in _detach_trailing_comments(row.value))
                return text[: text.rfind("\n", 0, at - 1) + 1] + comments.lstrip("\n") + text[at + len(body) :]
            del rows[number]
            return document.as_string()
    return text


def _check_duplicate_rows(text: str, file: str, key: str, name: str, rows: Iterable[Any]) -> None:
    """Raise `DocumentError` for a name with two rows: updating the first would leave the second in effect."""
    if sum(row.get("name") == name for row in rows) < 2:  # noqa: PLR2004
        return
    pattern = re.compile(rf"""\s*(?:\[\[{key}\]\]\s*)?name\s*=\s*["']{re.escape(name)}["']""")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if pattern.match(line)]
    raise DocumentError(
        f"duplicate name `{name}` in {key}" + (f", lines {' and '.join(map(str, lines))}" * bool(lines)),
        where=f"{file}:{lines[1]}" if len(lines) > 1 else file,
        hint=f"remove one of them by hand, or all with `skillpm config unset {shell_word(f'{key}.{name}')}`",
    )


def _rows_at(document: tomlkit.TOMLDocument, file: str, key: str) -> Any:
    rows = document.get(key)
    if rows is not None and not (isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows)):
        raise DocumentError("expected an array of tables", where=f"{file}: {key}", hint=f"write it as [[{key}]]")
    return rows


def _parse_document(text: str, file: str) -> tomlkit.TOMLDocument:
    parse_toml(text, file)  # its errors name the line; those of tomlkit do not always
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError) as error:
        raise DocumentError(f"this TOML cannot be edited: {error}", where=file, hint="edit it by hand") from error


def _insert_top_level_key(text: str, document: tomlkit.TOMLDocument, key: str, value: Any) -> str:
    """Insert a new top-level key after the last one, before the first table and the comment above it."""
    head = tomlkit.document()
    body = list(document.body)
    tables = [n for n, (_, item) in enumerate(body) if isinstance(item, Table | AoT)]
    top_level = body[: tables[0]] if tables else body
    while tables and top_level and isinstance(top_level[-1][1], Comment | Whitespace):
        top_level.pop()
    for name, item in top_level:
        head.append(name, item)
    above = head.as_string()
    if not text.startswith(above):
        document[key] = value
        return document.as_string()
    line = f"{tomlkit.key(key).as_string()} = {tomlkit.item(value).as_string()}\n"
    gap = "" if not above or above.endswith("\n") else "\n"
    below = text[len(above) :]
    return above + gap + line + ("\n" if below and not above else "") + below


def _detach_trailing_comments(container: Container) -> list[tuple[Any, Item]]:
    """Remove and return the blank lines and comments at the end of a table: they describe what follows."""
    start = len(container.body)
    while start and isinstance(container.body[start - 1][1], Comment | Whitespace):
        start -= 1
    tail = container.body[start:]
    del container.body[start:]
    return tail
