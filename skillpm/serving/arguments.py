"""Text that a user typed behind a skill's name, put into its body as Claude Code documents it. Pure.

`$ARGUMENTS` is all of it as typed, `$ARGUMENTS[0]` and `$0` the first word (words parted as in a shell), `$name` the
word of a name that the frontmatter lists under `arguments`. A word that was not given stays as it stands. A body
without any of these gets `ARGUMENTS: …` behind it.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

PLACEHOLDER = re.compile(r"\$(?:ARGUMENTS\[(\d{1,3})\]|ARGUMENTS\b|(\d{1,3})(?!\w)|([A-Za-z_]\w*))")


def substitute_arguments(body: str, arguments: str | Sequence[str], names: Sequence[str] = ()) -> str:
    """Give a body with its places filled. `arguments` is text as typed, or words that were parted already."""
    if isinstance(arguments, str):
        typed, words = arguments.strip(), _split_words(arguments)
    else:
        typed, words = " ".join(arguments), list(arguments)
    found = False

    def fill(match: re.Match[str]) -> str:
        nonlocal found
        index, short, name = match[1], match[2], match[3]
        if name is not None and name not in names:
            return match.group()
        found = True
        if name is None and index is None and short is None:
            return typed
        number = names.index(name) if name is not None else int(index if index is not None else short)
        return words[number] if number < len(words) else match.group()

    filled = PLACEHOLDER.sub(fill, body)
    return filled if found or not typed else f"{filled.rstrip()}\n\nARGUMENTS: {typed}\n"


def read_argument_names(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the names that a frontmatter lists under `arguments`, as a list or as text with blanks."""
    value = frontmatter.get("arguments")
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    return tuple(word for word in words if isinstance(word, str)) if isinstance(words, list) else ()


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed
        return text.split()
