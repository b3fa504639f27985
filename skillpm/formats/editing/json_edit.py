"""Edits of hand-written JSON: set or remove one member, and leave every other byte unchanged."""

import json
from bisect import bisect
from collections.abc import Iterable, Mapping
from json.decoder import WHITESPACE  # type: ignore[attr-defined]  # what the decoder itself skips
from typing import Any

SCAN_VALUE = json.JSONDecoder().raw_decode


def set_member(text: str, keys: tuple[str, ...], value: Any) -> str:
    """Return the text with the member at `keys` set; missing objects on the path are created.

    A new member is inserted in alphabetical order if the others are sorted, else at the end.
    """
    return set_members(text, keys[:-1], {keys[-1]: value})


def set_members(text: str, keys: tuple[str, ...], values: Mapping[str, Any]) -> str:
    """Return the text with several members of the object at `keys` set, as `set_member` would one by one."""
    start = skip_whitespace(text, 0)
    for depth, key in enumerate(keys):
        existing = next((member for member in child_spans(text, start) if member[0] == key), None)
        if existing is None:
            values = dict(sorted(values.items()))
            for missing in reversed(keys[depth + 1 :]):
                values = {missing: values}
            return _set_children(text, start, {key: values})
        start = existing[2]
    return _set_children(text, start, values)


def remove_member(text: str, keys: tuple[str, ...]) -> str:
    """Return the text without the member at `keys`; unchanged if there is none."""
    start = skip_whitespace(text, 0)
    for key in keys[:-1]:
        parent = next((member for member in child_spans(text, start) if member[0] == key), None)
        if parent is None:
            return text
        start = parent[2]
    members = child_spans(text, start)
    number = next((n for n, member in enumerate(members) if member[0] == keys[-1]), None)
    if number is None:
        return text
    if number + 1 < len(members):
        return text[: members[number][1]] + text[members[number + 1][1] :]
    if number:
        return text[: members[number - 1][3]] + text[members[number][3] :]
    return text[: start + 1] + text[skip_whitespace(text, members[0][3]) :]


def insert_element(text: str, key: str, number: int, value: Any) -> str:
    """Return the text with an element inserted into the array at `key`, before the element `number` or at the end.

    A missing array is created.
    """
    array = next((member for member in child_spans(text, skip_whitespace(text, 0)) if member[0] == key), None)
    if array is None:
        return set_member(text, (key,), [value])
    elements = child_spans(text, array[2])
    if not elements:
        return text[: array[2]] + _dump_value([value]) + text[array[3] :]
    if number < len(elements):
        start = elements[number][2]
        return f"{text[:start]}{_dump_value(value)},{_whitespace_before(text, start)}{text[start:]}"
    _, _, start, end = elements[-1]
    return f"{text[:end]},{_whitespace_before(text, start)}{_dump_value(value)}{text[end:]}"


def child_spans(text: str, start: int) -> list[tuple[str, int, int, int]]:
    """Return (key, start of the key, start of the value, end of the value) for each child of the value at `start`.

    The key of an array's element is its number; it starts where the value does.
    """
    children: list[tuple[str, int, int, int]] = []
    position = skip_whitespace(text, start + 1)
    while text[start] in "{[" and text[position] not in "}]":
        key, value_start = str(len(children)), position
        if text[start] == "{":
            key, key_end = SCAN_VALUE(text, position)
            value_start = skip_whitespace(text, skip_whitespace(text, key_end) + 1)
        _, value_end = SCAN_VALUE(text, value_start)
        children.append((key, position, value_start, value_end))
        position = skip_whitespace(text, value_end)
        if text[position] == ",":
            position = skip_whitespace(text, position + 1)
    return children


def skip_whitespace(text: str, position: int) -> int:
    """Return the position of the first character that is not white space."""
    match = WHITESPACE.match(text, position)
    return int(match.end()) if match else position


def _set_children(text: str, start: int, values: Mapping[str, Any]) -> str:
    members = child_spans(text, start)
    existing = {member[0]: member for member in members}
    names = [*existing]
    is_sorted = names == sorted(names)
    new = {
        key: f"{json.dumps(key, ensure_ascii=False)}: {_dump_value(value)}"
        for key, value in (sorted(values.items()) if is_sorted else values.items())
        if key not in existing
    }
    if not members and new:
        newline = "\r\n" if "\r\n" in text else "\n"
        outer = newline + _indent_before(text, start)
        inner = outer + _indent_unit(text)
        rest = skip_whitespace(text, start + 1)
        return f"{text[: start + 1]}{inner}{f',{inner}'.join(new.values())}{outer}{text[rest:]}"
    edits = [
        (existing[key][2], existing[key][3], _dump_value(value)) for key, value in values.items() if key in existing
    ]
    for key, rendered in new.items():
        number = bisect(names, key) if is_sorted else len(members)
        if number < len(members):
            at = members[number][1]
            edits.append((at, at, f"{rendered},{_whitespace_before(text, at)}"))
        else:
            at = members[-1][3]
            edits.append((at, at, f",{_whitespace_before(text, members[-1][1])}{rendered}"))
    return _apply_edits(text, edits)


def _apply_edits(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Replace (start, end) of the text by each edit's own; edits at the same position stay in their order."""
    parts, position = [], 0
    for start, end, replacement in sorted(edits, key=lambda edit: edit[:2]):
        parts += [text[position:start], replacement]
        position = end
    return "".join([*parts, text[position:]])


def _whitespace_before(text: str, position: int) -> str:
    """Return the white space before a member, to repeat it before a new one; a space if there is none."""
    start = position
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    return text[start:position] or " "


def _indent_before(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _indent_unit(text: str) -> str:
    """Return the indentation of one level, guessed from the first indented line; two spaces if there is none."""
    for line in text.split("\n"):
        if line[:1] in {" ", "\t"}:
            return line[: len(line) - len(line.lstrip(" \t"))]
    return "  "


def _dump_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
