"""Sanitize untrusted text for a model. Pure.

The result has no hidden characters and no terminal control sequences, and cannot close the tags around it.
"""

import re

from skillpm.core.text import HIDDEN, one_line, sanitize

# Line breaks, tabs, and the joiners that some scripts and emoji need. All other characters in HIDDEN are shown as
# escapes. INVISIBLE_CHARACTERS (tag characters, variation selectors 17 to 256) are removed: people cannot see them, but
# models read them, so they are used to smuggle instructions.
ALLOWED_CHARACTERS = frozenset("\n\t\u200c\u200d")
INVISIBLE_CHARACTERS = re.compile("[\U000e0000-\U000e007f\U000e0100-\U000e01ef]")
CLOSING_TAG = re.compile(r"<(\s*/\s*(?:skill|available_skills))", re.IGNORECASE)


def sanitize_text(text: str) -> str:
    """Return a text without invisible characters and with control characters made visible."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    clean = INVISIBLE_CHARACTERS.sub("", text.replace("\r\n", "\n"))
    return HIDDEN.sub(
        lambda match: match.group() if match.group() in ALLOWED_CHARACTERS else sanitize(match.group()), clean
    )


def sanitize_line(text: str) -> str:
    """Return text as one sanitized line."""
    return sanitize_text(one_line(text))


def escape_markup(text: str) -> str:
    """Return text as one sanitized line with `&`, `<` and `>` escaped."""
    return sanitize_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_closing_tags(text: str) -> str:
    """Return a body in which nothing closes the tags around it."""
    return CLOSING_TAG.sub(r"&lt;\1", text)
