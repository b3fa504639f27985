"""Foreign text on its way to a model: nothing in it is hidden, moves a cursor, or ends what it stands in. Pure."""

import re

from skillpm.core.text import HIDDEN, one_line, show

# What languages and pictures need: line breaks, tabs, and the joiners between letters. Everything else that HIDDEN
# knows is shown as what it is, and letters that only models see (tags, further variation selectors) go.
NEEDED = frozenset("\n\t\u200c\u200d")
UNSEEN = re.compile("[\U000e0000-\U000e007f\U000e0100-\U000e01ef]")
CLOSING = re.compile(r"<(\s*/\s*(?:skill|available_skills))", re.IGNORECASE)


def for_model(text: str) -> str:
    """Give a text with what nobody sees taken out, and what only a terminal obeys made visible."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    clean = UNSEEN.sub("", text.replace("\r\n", "\n"))
    return HIDDEN.sub(lambda match: match.group() if match.group() in NEEDED else show(match.group()), clean)


def line_for_model(text: str) -> str:
    """Give a text as one line for a model."""
    return for_model(one_line(text))


def escaped(text: str) -> str:
    """Give one line of text that is no markup, whatever stands in it."""
    return line_for_model(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unclosing(text: str) -> str:
    """Give a body in which no line ends the tags that it is put between."""
    return CLOSING.sub(r"&lt;\1", text)
