"""Edit TOML that people wrote: one key is set or taken out, comments and order stay. Pure; `tomlkit` does the work.

A comment stands above what it is about. In tomlkit it belongs to whatever comes before it, so what is new is put
before such trailing comments and never between one and its table.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, Item, Table, Whitespace

from skillpm.core.decoder import parse_toml
from skillpm.errors import DocumentError


def set_key(text: str, file: str, keys: tuple[str, ...], value: Any) -> str:
    """Give the text with the value at `keys` set; tables on the way are made where they are missing."""
    document = _parse_document(text, file)
    if len(keys) == 1 and keys[0] not in document:
        return _insert_top_level_key(text, document, keys[0], value)
    here: Any = document
    for key in keys[:-1]:
        if key not in here:
            here[key] = tomlkit.table()
        here = here[key]
        if not isinstance(here, Mapping):
            raise DocumentError("expected a table", where=f"{file}: {'.'.join(keys[:-1])}")
    if keys[-1] in here:
        here[keys[-1]] = value
    else:
        inner = here.value if isinstance(here, Table) else None
        tail = _detach_trailing_comments(inner) if isinstance(inner, Container) else []
        here[keys[-1]] = value
        if isinstance(inner, Container):
            inner.body.extend(tail)
    return document.as_string()


def remove_key(text: str, file: str, keys: tuple[str, ...]) -> str:
    """Give the text without the key; unchanged where it is not there."""
    document = _parse_document(text, file)
    here: Any = document
    for key in keys[:-1]:
        here = here.get(key, {})
        if not isinstance(here, Mapping):
            raise DocumentError("expected a table", where=f"{file}: {'.'.join(keys[:-1])}")
    if keys[-1] not in here:
        return text
    del here[keys[-1]]
    return document.as_string()


def set_row(text: str, file: str, key: str, row: Mapping[str, str]) -> str:
    """Give the text with a row in an array of tables: the one of the same `name` changed, else a new last one."""
    document = _parse_document(text, file)
    rows = _rows_at(document, file, key)
    _check_duplicate_rows(text, file, key, row["name"], rows or ())
    for there in rows or ():
        if there.get("name") == row["name"]:
            there.update({word: value for word, value in row.items() if there.get(word) != value})
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
    """Give the text without the row of that name, or without all where it stands there twice; what stands behind it for
    the next one stays.
    """
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
                kept = "".join(item.as_string() for _, item in _detach_trailing_comments(row.value))
                return text[: text.rfind("\n", 0, at - 1) + 1] + kept.lstrip("\n") + text[at + len(body) :]
            del rows[number]
            return document.as_string()
    return text


def _check_duplicate_rows(text: str, file: str, key: str, name: str, rows: Iterable[Any]) -> None:
    """Raise `DocumentError` for a name that stands in two rows: one of them would stay as it was."""
    if sum(row.get("name") == name for row in rows) < 2:  # noqa: PLR2004
        return
    named = re.compile(rf"""\s*(?:\[\[{key}\]\]\s*)?name\s*=\s*["']{re.escape(name)}["']""")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if named.match(line)]
    raise DocumentError(
        f"`{name}` stands in {key} more than once" + (f", in the lines {' and '.join(map(str, lines))}" * bool(lines)),
        where=f"{file}:{lines[1]}" if len(lines) > 1 else file,
        hint=f"take one of them out by hand, or all with `skillpm config unset {key}.{name}`",
    )


def _rows_at(document: tomlkit.TOMLDocument, file: str, key: str) -> Any:
    rows = document.get(key)
    if rows is not None and not (isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows)):
        raise DocumentError("expected an array of tables", where=f"{file}: {key}", hint=f"write it as [[{key}]]")
    return rows


def _parse_document(text: str, file: str) -> tomlkit.TOMLDocument:
    parse_toml(text, file)  # whose faults name the line
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError) as error:
        raise DocumentError(f"this TOML cannot be edited: {error}", where=file, hint="edit it by hand") from error


def _insert_top_level_key(text: str, document: tomlkit.TOMLDocument, key: str, value: Any) -> str:
    """Put a new key of the top behind the last one there, before the first table and the comment above it."""
    head = tomlkit.document()
    rows = list(document.body)
    ends = [n for n, (_, item) in enumerate(rows) if isinstance(item, Table | AoT)]
    simple = rows[: ends[0]] if ends else rows
    while ends and simple and isinstance(simple[-1][1], Comment | Whitespace):
        simple.pop()
    for name, item in simple:
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
    """Take the blank lines and comments off the end: they are about what comes next."""
    start = len(container.body)
    while start and isinstance(container.body[start - 1][1], Comment | Whitespace):
        start -= 1
    tail = container.body[start:]
    del container.body[start:]
    return tail
