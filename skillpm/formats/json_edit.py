"""Edit JSON that people wrote: one member is set or taken out, every other byte stays where it was."""

import json
from json.decoder import WHITESPACE  # type: ignore[attr-defined]  # the decoder's own notion of blanks
from typing import Any

SCAN_VALUE = json.JSONDecoder().raw_decode


def set_member(text: str, keys: tuple[str, ...], value: Any) -> str:
    """Give the text with the member at `keys` set; objects on the way are made where they are missing.

    A new member goes to its place in the alphabet when the others are sorted, else to the end.
    """
    start = skip_whitespace(text, 0)
    for depth, key in enumerate(keys):
        members = member_spans(text, start)
        found = next((member for member in members if member[0] == key), None)
        if found is None:
            for missing in reversed(keys[depth + 1 :]):
                value = {missing: value}
            return _insert_member(text, start, members, key, value)
        start = found[2]
        if depth == len(keys) - 1:
            return text[:start] + _dump_value(value) + text[found[3] :]
    return text


def remove_member(text: str, keys: tuple[str, ...]) -> str:
    """Give the text without the member at `keys`; without change where it is not there."""
    start = skip_whitespace(text, 0)
    for key in keys[:-1]:
        found = next((member for member in member_spans(text, start) if member[0] == key), None)
        if found is None:
            return text
        start = found[2]
    members = member_spans(text, start)
    number = next((n for n, member in enumerate(members) if member[0] == keys[-1]), None)
    if number is None:
        return text
    if number + 1 < len(members):
        return text[: members[number][1]] + text[members[number + 1][1] :]
    if number:
        return text[: members[number - 1][3]] + text[members[number][3] :]
    return text[: start + 1] + text[skip_whitespace(text, members[0][3]) :]


def insert_element(text: str, key: str, number: int, value: Any) -> str:
    """Give the text with one more element in the array at `key`, before the one that has this number now, else at its
    end; the array is made where it is missing.
    """
    found = next((member for member in member_spans(text, skip_whitespace(text, 0)) if member[0] == key), None)
    if found is None:
        return set_member(text, (key,), [value])
    places = element_spans(text, found[2])
    if not places:
        return text[: found[2]] + _dump_value([value]) + text[found[3] :]
    if number < len(places):
        at = places[number][0]
        return f"{text[:at]}{_dump_value(value)},{_whitespace_before(text, at)}{text[at:]}"
    start, stop = places[-1]
    return f"{text[:stop]},{_whitespace_before(text, start)}{_dump_value(value)}{text[stop:]}"


def element_spans(text: str, start: int) -> list[tuple[int, int]]:
    """List an array's elements by where they start and end."""
    places: list[tuple[int, int]] = []
    at = skip_whitespace(text, start + 1)
    while text[at] != "]":
        _, stop = SCAN_VALUE(text, at)
        places.append((at, stop))
        at = skip_whitespace(text, stop)
        if text[at] == ",":
            at = skip_whitespace(text, at + 1)
    return places


def member_spans(text: str, start: int) -> list[tuple[str, int, int, int]]:
    """List an object's members as (key, where the key starts, where the value starts, where it ends)."""
    members: list[tuple[str, int, int, int]] = []
    at = skip_whitespace(text, start + 1)
    while text[at] != "}":
        key, end = SCAN_VALUE(text, at)
        value = skip_whitespace(text, skip_whitespace(text, end) + 1)
        _, stop = SCAN_VALUE(text, value)
        members.append((key, at, value, stop))
        at = skip_whitespace(text, stop)
        if text[at] == ",":
            at = skip_whitespace(text, at + 1)
    return members


def skip_whitespace(text: str, at: int) -> int:
    """Give where the blanks that begin somewhere end."""
    match = WHITESPACE.match(text, at)
    return int(match.end()) if match else at


def _insert_member(text: str, start: int, members: list[tuple[str, int, int, int]], key: str, value: Any) -> str:
    names = [member[0] for member in members]
    written = f"{json.dumps(key, ensure_ascii=False)}: {_dump_value(value)}"
    if not members:
        end = "\r\n" if "\r\n" in text else "\n"
        outer = end + _indent_before(text, start)
        rest = skip_whitespace(text, start + 1)
        return f"{text[: start + 1]}{outer}{_indent_unit(text)}{written}{outer}{text[rest:]}"
    if names == sorted(names) and (after := next((member for member in members if member[0] > key), None)):
        gap = _whitespace_before(text, after[1])
        return f"{text[: after[1]]}{written},{gap}{text[after[1] :]}"
    last = members[-1]
    return f"{text[: last[3]]},{_whitespace_before(text, last[1])}{written}{text[last[3] :]}"


def _whitespace_before(text: str, at: int) -> str:
    """Give the blanks that stand before a member, to repeat them."""
    start = at
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    return text[start:at] or " "


def _indent_before(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _indent_unit(text: str) -> str:
    """Give what one level is indented by in this text; two blanks where nothing tells."""
    for line in text.split("\n"):
        if line[:1] in {" ", "\t"}:
            return line[: len(line) - len(line.lstrip(" \t"))]
    return "  "


def _dump_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
