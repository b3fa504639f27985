"""Coercion of frontmatter values: the forms in which authors write text, lists and objects, converted to one.

Every scalar is a string already (`skillmd/yaml_loader.py`), so `1.10` and `on` need no special case.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import one_line
from skillpm.core.values import EMPTY_MAPPING

KEY_VALUE = lazy_pattern(r"\s*([\w.-]+)\s*:\s*(.*)", re.DOTALL)
# A list that YAML reads as a string: quoted as a whole, or repaired.
BRACKETED = lazy_pattern(r"\[(.*)\]", re.DOTALL)
KEYWORD_KEYS = frozenset(["keyword", "keywords", "phrase", "phrases", "trigger", "triggers", "word", "words"])
PATTERN_KEYS = frozenset(["pattern", "patterns"])
REGEX_SYNTAX = lazy_pattern(r"[\\^$*+?()\[\]{}]")


def to_text(value: Any) -> str:
    """Return a string without surrounding white space; empty for any other type."""
    return value.strip() if isinstance(value, str) else ""


def to_words(value: Any) -> tuple[str, ...]:
    """Return the words of a list, or of text with commas or `|`, in order and without duplicates."""
    if value is None:
        return ()
    return tuple(dict.fromkeys(word for part in _split_parts(value) if (word := one_line(part))))


def read_triggers(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keywords under `triggers` and `trigger`, in order, each once, whatever its case."""
    words = (*to_triggers(values.get("triggers")), *to_triggers(values.get("trigger")))
    first = {word.casefold(): word for word in reversed(words)}
    return tuple(dict.fromkeys(first[word.casefold()] for word in words))


def to_triggers(value: Any) -> tuple[str, ...]:
    """Return the keywords of a list, of text, or of objects with `keywords` or a `pattern` of alternatives."""
    if value is None:
        return ()
    objects = value if isinstance(value, list) else [value]
    words = list(to_words(value))
    for entry in objects:
        for key, inner in entry.items() if isinstance(entry, dict) else ():
            if key.lower() in KEYWORD_KEYS:
                words.extend(to_words(inner))
            elif key.lower() in PATTERN_KEYS:
                alternatives = [word for part in _split_parts(inner, "|") for word in part.split("|")]
                words.extend(one_line(word) for word in alternatives if not REGEX_SYNTAX.search(word))
    return tuple(dict.fromkeys(word for word in words if word))


def to_tools(value: Any) -> tuple[str, ...]:
    """Return the allowed tools of a list, or of text with commas or spaces; parentheses are not split.

    A lone dash, the remains of a list written in a block scalar, is dropped.
    """
    if value is None:
        return ()
    tools = map(to_text, value) if isinstance(value, list) else split_outside_parentheses(to_text(value), ", \t\n")
    return tuple(tool for tool in tools if tool and tool != "-")


def split_outside_parentheses(text: str, separators: str) -> Iterator[str]:
    """Split at separators, but not inside parentheses."""
    # A loop, since a regular expression for this takes quadratic time on unbalanced parentheses.
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
    """Return an object written as nested YAML or as JSON in a string; empty for anything else.

    The Agent Skills specification allows only strings under `metadata`, hence the JSON.
    """
    if isinstance(value, str):
        try:
            # As in YAML, every scalar stays as it was written.
            value = json.loads(value, parse_int=str, parse_float=str, parse_constant=str)
            json.dumps(value, ensure_ascii=False).encode()  # raises for a lone surrogate, which no file can hold
        except (ValueError, RecursionError):
            return EMPTY_MAPPING
    return value if isinstance(value, dict) else EMPTY_MAPPING


def to_metadata(value: Any) -> Mapping[str, Any] | None:
    """Return `metadata` from an object, JSON in a string, or `key: value, key: value`; None for anything else."""
    if value is None or isinstance(value, dict):
        return value or EMPTY_MAPPING
    if members := to_object(value):
        return members
    pairs = [KEY_VALUE.fullmatch(part) for part in to_text(value).split(",")]
    return {pair[1]: pair[2].strip() for pair in pairs if pair} if pairs and all(pairs) else None


def strip_quotes(text: str) -> str:
    """Return text without one pair of surrounding quotes."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _split_parts(value: Any, separators: str = ",|") -> Iterator[str]:
    if isinstance(value, list):
        yield from (part for part in value if isinstance(part, str))
        return
    text = to_text(value)
    bracketed = BRACKETED.fullmatch(text)
    if bracketed is None:
        yield from re.split(f"[{re.escape(separators)}]", text)
    else:
        yield from (strip_quotes(part) for part in bracketed[1].split(","))
