"""The few shapes in which people write text, lists of words and objects in frontmatter, each made one.

Every scalar is text already (`skillmd/yaml_loader.py`), so `1.10` and `on` are words like any other.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillpm.core.text import one_line
from skillpm.core.values import NOTHING

PAIR = re.compile(r"\s*([\w.-]+)\s*:\s*(.*)", re.DOTALL)
# A list that YAML took for text: quoted as a whole, or repaired.
BRACKETED = re.compile(r"\[(.*)\]", re.DOTALL)
SAYS_WORDS = frozenset(["keyword", "keywords", "phrase", "phrases", "trigger", "triggers", "word", "words"])
SAYS_PATTERNS = frozenset(["pattern", "patterns"])
PATTERN_ONLY = re.compile(r"[\\^$*+?()\[\]{}]")


def text_of(value: Any) -> str:
    """Give text without the blanks around it; nothing for what is no text."""
    return value.strip() if isinstance(value, str) else ""


def words_of(value: Any, separators: str = ",|") -> tuple[str, ...]:
    """Give a list of words from a list, or from text with separators; each once, in order."""
    if value is None:
        return ()
    return tuple(dict.fromkeys(word for part in _parts(value, separators) if (word := one_line(part))))


def triggers_of(value: Any, separators: str = ",|") -> tuple[str, ...]:
    """Give keywords from a list, from text, or from objects that have `keywords` or a `pattern` of alternatives."""
    if value is None:
        return ()
    objects = value if isinstance(value, list) else [value]
    found = list(words_of(value, separators))
    for entry in objects:
        for key, inner in entry.items() if isinstance(entry, dict) else ():
            if key.lower() in SAYS_WORDS:
                found.extend(words_of(inner))
            elif key.lower() in SAYS_PATTERNS:
                alternatives = [word for part in _parts(inner, "|") for word in part.split("|")]
                found.extend(one_line(word) for word in alternatives if not PATTERN_ONLY.search(word))
    return tuple(dict.fromkeys(word for word in found if word))


def tools_of(value: Any) -> tuple[str, ...]:
    """Give allowed tools from a list, or from text with commas or blanks; parentheses hold together.

    A dash alone is what is left of a list written into a block scalar.
    """
    if value is None:
        return ()
    found = map(text_of, value) if isinstance(value, list) else outside_parentheses(text_of(value), ", \t\n")
    return tuple(tool for tool in found if tool and tool != "-")


def outside_parentheses(text: str, separators: str) -> Iterator[str]:
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


def object_of(value: Any) -> Mapping[str, Any]:
    """Give an object that is nested YAML or, since the specification wants text under `metadata`, JSON in a string."""
    if isinstance(value, str):
        try:
            # As in YAML, every scalar keeps its text.
            value = json.loads(value, parse_int=str, parse_float=str, parse_constant=str)
            json.dumps(value, ensure_ascii=False).encode()  # an escaped half of a character cannot be written
        except (ValueError, RecursionError):
            return NOTHING
    return value if isinstance(value, dict) else NOTHING


def metadata_of(value: Any) -> Mapping[str, Any] | None:
    """Give `metadata` from an object, JSON in a string or `key: value, key: value`; None for anything else."""
    if value is None or isinstance(value, dict):
        return value or NOTHING
    if found := object_of(value):
        return found
    pairs = [PAIR.fullmatch(part) for part in text_of(value).split(",")]
    return {pair[1]: pair[2].strip() for pair in pairs if pair} if pairs and all(pairs) else None


def unquoted(text: str) -> str:
    """Give text without the one pair of quotes around it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _parts(value: Any, separators: str) -> Iterator[str]:
    if isinstance(value, list):
        yield from (part for part in value if isinstance(part, str))
        return
    text = text_of(value)
    bracketed = BRACKETED.fullmatch(text)
    if bracketed is None:
        yield from re.split(f"[{re.escape(separators)}]", text)
    else:
        yield from (unquoted(part) for part in bracketed[1].split(","))
