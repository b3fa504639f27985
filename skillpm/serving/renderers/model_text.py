"""Sanitize untrusted text for a model. Pure.

The result has no hidden characters and no terminal control sequences, and cannot close the tags around it.
"""

import re

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN, one_line

CLOSING_TAG = lazy_pattern(r"<(\s*/\s*(?:skill|available_skills))", re.IGNORECASE)


def sanitize_text(text: str) -> str:
    """Return a text without control characters, other than line breaks and tabs, and without hidden ones."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    # People do not see such characters, and models read them, so they are used to smuggle instructions.
    return HIDDEN.sub(lambda match: match.group() if match.group() in "\n\t" else "", text.replace("\r\n", "\n"))


def sanitize_line(text: str) -> str:
    """Return text as one sanitized line."""
    return sanitize_text(one_line(text))


def escape_markup(text: str) -> str:
    """Return text as one sanitized line with `&`, `<` and `>` escaped."""
    return sanitize_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_closing_tags(text: str) -> str:
    """Return a body in which nothing closes the tags around it."""
    return CLOSING_TAG.sub(r"&lt;\1", text)
