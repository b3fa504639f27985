r"""Substitute the arguments that a user typed after a skill's name, as Claude Code documents it. Pure.

`$ARGUMENTS` is the whole text as typed, `$ARGUMENTS[0]` and `$0` are its first word (split as in a shell), and `$name`
is the word at the position of that name in the frontmatter's `arguments`. A number without a matching word stays as it
is, a name becomes empty. A single backslash escapes a placeholder: `\$1.00` is `$1.00`. If the body has no placeholder,
`ARGUMENTS: …` is appended.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.core.patterns import lazy_pattern

PLACEHOLDER = lazy_pattern(
    r"(?<!\\)(?P<slashes>\\*)\$(?:ARGUMENTS\[(?P<index>\d{1,3})\]|ARGUMENTS\b|(?P<short>\d{1,3})(?!\w)|(?P<name>[A-Za-z_]\w*))"
)


def substitute_arguments(body: str, arguments: str | Sequence[str], names: Sequence[str] = ()) -> str:
    """Return the body with its placeholders filled. `arguments` is text as typed, or a list of words."""
    if isinstance(arguments, str):
        typed, words = arguments.strip(), _split_words(arguments)
    else:
        typed, words = " ".join(arguments), list(arguments)
    has_placeholder = False

    def fill(match: re.Match[str]) -> str:
        nonlocal has_placeholder
        slashes, index, short, name = match.group("slashes", "index", "short", "name")
        if name is not None and name not in names:
            return match.group()
        if slashes == "\\":
            return match.group()[1:]
        has_placeholder = True
        if name is None and index is None and short is None:
            return slashes + typed
        number = names.index(name) if name is not None else int(index if index is not None else short)
        missing = "" if name is not None else match.group().removeprefix(slashes)
        return slashes + (words[number] if number < len(words) else missing)

    filled = PLACEHOLDER.sub(fill, body)
    return filled if has_placeholder or not typed else f"{filled.rstrip()}\n\nARGUMENTS: {typed}\n"


def read_argument_names(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names in the frontmatter's `arguments`, a list or text separated by spaces or commas."""
    value = frontmatter.get("arguments")
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    return tuple(word for word in words if isinstance(word, str)) if isinstance(words, list) else ()


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an unclosed quote
        return text.split()
