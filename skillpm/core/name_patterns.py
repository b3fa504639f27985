"""Patterns of names, in which `*` matches any text and `?` one character. Matching takes linear time. Pure."""

import re
from collections.abc import Collection, Iterable

from skillpm.core.limits import MAX_INNER_WILDCARDS, MAX_NAME_PATTERN_LENGTH, MAX_NAME_PATTERNS
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError


class NamePatterns:
    """Finds the last of many patterns that matches a name, without trying each.

    Names, `prefix*` and `*suffix` are looked up in tables; only the patterns with other wildcards are tried one by one.
    """

    def __init__(self, patterns: Iterable[str], one_character: str = ".") -> None:
        """`one_character` is the regular expression that `?` stands for."""
        self._names: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        self._suffixes: dict[str, int] = {}
        self._others: list[tuple[int, re.Pattern[str]]] = []
        for position, pattern in enumerate(patterns):
            literal = pattern.strip("*")
            if has_inner_wildcard(pattern):
                self._others.insert(0, (position, _compile(pattern, one_character)))
            elif pattern.endswith("*"):
                self._prefixes[literal] = position
            else:
                (self._suffixes if pattern.startswith("*") else self._names)[literal] = position
        self._prefix_lengths = {*map(len, self._prefixes)}
        self._suffix_lengths = {*map(len, self._suffixes)}

    def find_last(self, name: str) -> int:
        """Return the position of the last pattern that matches a name, or -1."""
        found, size = self._names.get(name, -1), len(name)
        for length in self._prefix_lengths:
            if length <= size:
                found = max(found, self._prefixes.get(name[:length], -1))
        for length in self._suffix_lengths:
            if length <= size:
                found = max(found, self._suffixes.get(name[size - length :], -1))
        for position, pattern in self._others:
            if position < found:
                break
            if pattern.match(name):
                return position
        return found


def has_inner_wildcard(pattern: str) -> bool:
    """Return whether a pattern has other wildcards than a `*` at one end."""
    literal = pattern.strip("*")
    return "*" in literal or "?" in literal or (literal != "" and pattern[0] == pattern[-1] == "*")


def matches_pattern(pattern: str, name: str) -> bool:
    """Return whether a pattern matches a name. Nothing is compiled: that takes 0.1 ms, and a document may have many."""
    places: dict[str, int] = {}
    for number, character in enumerate(name):
        places[character] = places.get(character, 0) | 2 << number
    everywhere = (2 << len(name)) - 1
    matched = 1  # bit n: what was read of the pattern matches the first n characters of the name
    for character in pattern:
        if character == "*":
            matched = everywhere & -(matched & -matched)
        else:
            matched = matched << 1 & (everywhere if character == "?" else places.get(character, 0))
        if not matched:
            return False
    return bool(matched >> len(name))


def check_patterns(patterns: Collection[str], where: str, max_length: int = MAX_NAME_PATTERN_LENGTH) -> None:
    """Raise `DocumentError` for more or longer patterns than one document may have, which would take seconds."""
    if len(patterns) > MAX_NAME_PATTERNS:
        message = f"{len(patterns):,} patterns; at most {MAX_NAME_PATTERNS:,} are allowed"
        raise DocumentError(message, where=where)
    for pattern in patterns:
        if len(pattern) > max_length:
            size = f"{len(pattern):,} characters; at most {max_length:,} are allowed"
            raise DocumentError(f"the pattern `{sanitize(pattern, 60)}` has {size}", where=where)
    check_inner_wildcards(patterns, where, MAX_INNER_WILDCARDS)


def check_inner_wildcards(patterns: Iterable[str], where: str, most: int) -> None:
    """Raise `DocumentError` for too many patterns that have to be tried one by one."""
    number = sum(map(has_inner_wildcard, patterns))
    if number > most:
        message = f"{number:,} patterns with wildcards in the middle; at most {most:,} are allowed"
        hint = "patterns with one `*`, at the beginning or at the end, are not limited in this way"
        raise DocumentError(message, where=where, hint=hint)


def _compile(pattern: str, one_character: str) -> re.Pattern[str]:
    # Atomic groups, so that a hostile `*a*a*a*` cannot take exponential time.
    first, *rest = (
        "".join(one_character if character == "?" else re.escape(character) for character in part)
        for part in re.split(r"\*+", pattern)
    )
    inner = "".join(f"(?>.*?{part})" for part in rest[:-1])
    return re.compile(rf"{first}{inner}{f'.*{rest[-1]}' if rest else ''}\Z", re.DOTALL)
