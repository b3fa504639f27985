"""Foreign text on its way to a model: nothing in it is hidden, moves a cursor, or ends what it stands in. Pure."""

import re

from skillpm.core.text import HIDDEN, one_line, sanitize

# What languages and pictures need: line breaks, tabs, and the joiners between letters. Everything else that HIDDEN
# knows is shown as what it is, and letters that only models see (tags, further variation selectors) go.
ALLOWED_CHARACTERS = frozenset("\n\t\u200c\u200d")
INVISIBLE_CHARACTERS = re.compile("[\U000e0000-\U000e007f\U000e0100-\U000e01ef]")
CLOSING_TAG = re.compile(r"<(\s*/\s*(?:skill|available_skills))", re.IGNORECASE)


def sanitize_text(text: str) -> str:
    """Give a text with what nobody sees taken out, and what only a terminal obeys made visible."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    clean = INVISIBLE_CHARACTERS.sub("", text.replace("\r\n", "\n"))
    return HIDDEN.sub(
        lambda match: match.group() if match.group() in ALLOWED_CHARACTERS else sanitize(match.group()), clean
    )


def sanitize_line(text: str) -> str:
    """Give a text as one line for a model."""
    return sanitize_text(one_line(text))


def escape_markup(text: str) -> str:
    """Give one line of text that is no markup, whatever stands in it."""
    return sanitize_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_closing_tags(text: str) -> str:
    """Give a body in which no line ends the tags that it is put between."""
    return CLOSING_TAG.sub(r"&lt;\1", text)
