"""The few shapes in which people write text, lists of words and objects in frontmatter, each made one.

Every scalar is text already (`skillmd/yaml_loader.py`), so `1.10` and `on` are words like any other.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillpm.core.text import one_line
from skillpm.core.values import EMPTY_MAPPING

KEY_VALUE = re.compile(r"\s*([\w.-]+)\s*:\s*(.*)", re.DOTALL)
# A list that YAML took for text: quoted as a whole, or repaired.
BRACKETED = re.compile(r"\[(.*)\]", re.DOTALL)
KEYWORD_KEYS = frozenset(["keyword", "keywords", "phrase", "phrases", "trigger", "triggers", "word", "words"])
PATTERN_KEYS = frozenset(["pattern", "patterns"])
REGEX_SYNTAX = re.compile(r"[\\^$*+?()\[\]{}]")


def to_text(value: Any) -> str:
    """Give text without the blanks around it; nothing for what is no text."""
    return value.strip() if isinstance(value, str) else ""


def to_words(value: Any, separators: str = ",|") -> tuple[str, ...]:
    """Give a list of words from a list, or from text with separators; each once, in order."""
    if value is None:
        return ()
    return tuple(dict.fromkeys(word for part in _split_parts(value, separators) if (word := one_line(part))))


def to_triggers(value: Any, separators: str = ",|") -> tuple[str, ...]:
    """Give keywords from a list, from text, or from objects that have `keywords` or a `pattern` of alternatives."""
    if value is None:
        return ()
    objects = value if isinstance(value, list) else [value]
    found = list(to_words(value, separators))
    for entry in objects:
        for key, inner in entry.items() if isinstance(entry, dict) else ():
            if key.lower() in KEYWORD_KEYS:
                found.extend(to_words(inner))
            elif key.lower() in PATTERN_KEYS:
                alternatives = [word for part in _split_parts(inner, "|") for word in part.split("|")]
                found.extend(one_line(word) for word in alternatives if not REGEX_SYNTAX.search(word))
    return tuple(dict.fromkeys(word for word in found if word))


def to_tools(value: Any) -> tuple[str, ...]:
    """Give allowed tools from a list, or from text with commas or blanks; parentheses hold together.

    A dash alone is what is left of a list written into a block scalar.
    """
    if value is None:
        return ()
    found = map(to_text, value) if isinstance(value, list) else split_outside_parentheses(to_text(value), ", \t\n")
    return tuple(tool for tool in found if tool and tool != "-")


def split_outside_parentheses(text: str, separators: str) -> Iterator[str]:
    """Split at separators, but not inside parentheses. By hand: a pattern for it takes time by the square."""
    depth = start = 0
    for at, letter in enumerate(text):
        if letter in separators and depth == 0:
            yield text[start:at]
            start = at + 1
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth = max(0, depth - 1)
    yield text[start:]


def to_object(value: Any) -> Mapping[str, Any]:
    """Give an object that is nested YAML or, since the specification wants text under `metadata`, JSON in a string."""
    if isinstance(value, str):
        try:
            # As in YAML, every scalar keeps its text.
            value = json.loads(value, parse_int=str, parse_float=str, parse_constant=str)
            json.dumps(value, ensure_ascii=False).encode()  # an escaped half of a character cannot be written
        except (ValueError, RecursionError):
            return EMPTY_MAPPING
    return value if isinstance(value, dict) else EMPTY_MAPPING


def to_metadata(value: Any) -> Mapping[str, Any] | None:
    """Give `metadata` from an object, JSON in a string or `key: value, key: value`; None for anything else."""
    if value is None or isinstance(value, dict):
        return value or EMPTY_MAPPING
    if found := to_object(value):
        return found
    pairs = [KEY_VALUE.fullmatch(part) for part in to_text(value).split(",")]
    return {pair[1]: pair[2].strip() for pair in pairs if pair} if pairs and all(pairs) else None


def strip_quotes(text: str) -> str:
    """Give text without the one pair of quotes around it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _split_parts(value: Any, separators: str) -> Iterator[str]:
    if isinstance(value, list):
        yield from (part for part in value if isinstance(part, str))
        return
    text = to_text(value)
    bracketed = BRACKETED.fullmatch(text)
    if bracketed is None:
        yield from re.split(f"[{re.escape(separators)}]", text)
    else:
        yield from (strip_quotes(part) for part in bracketed[1].split(","))
