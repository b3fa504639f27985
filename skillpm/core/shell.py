"""Words of the commands that messages suggest: people paste them into a shell, and names and paths come from others."""

from collections.abc import Iterable
from shlex import quote

from skillpm.core.text import sanitize


def shell_word(text: object, limit: int = 400) -> str:
    """Return a text as one word of a shell: printable, and quoted if necessary. A leading `~/` is still expanded."""
    home, path = ("~/", str(text)[2:]) if str(text).startswith("~/") else ("", str(text))
    return home + quote(sanitize(path, limit)) if path else home or "''"


def shell_words(texts: Iterable[object]) -> str:
    """Return several words of a shell."""
    return " ".join(map(shell_word, texts))
