"""The common mistakes in hand-written JSON, recognized from where the parser stopped."""

from skillpm.core.patterns import lazy_pattern

BARE_WORD = lazy_pattern(r"[A-Za-z_]\w*")
PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}


def likely_mistake(text: str, position: int, parser_message: str) -> str:
    """Return what is most likely wrong at the character `position`, where the parser stopped; empty if unknown."""
    before, here = text[:position].rstrip(), text[position:].lstrip()
    if not text.strip():
        return "the file is empty"
    if here.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if here.startswith("'"):
        return 'strings need "double quotes"'
    if before.endswith(",") and here.startswith(("}", "]")):
        return f"remove the trailing comma in line {_last_line_number(before)}"
    if "trailing comma" in parser_message.lower():  # Python 3.13 stops at the comma itself
        return f"remove the trailing comma in line {_last_line_number(text[: position + 1])}"
    if parser_message.startswith("Expecting ',' delimiter"):
        return _missing_separator(before, here)
    word = BARE_WORD.match(here)
    if word and word[0] in PYTHON_LITERALS:
        return f"write `{PYTHON_LITERALS[word[0]]}` in JSON"
    if word and parser_message.startswith("Expecting property name"):
        return 'keys need "double quotes"'
    if parser_message.startswith(("Invalid control character", "Unterminated string")):
        return f'a closing " is missing in line {_last_line_number(text[:position])}'
    return ""


def _missing_separator(before: str, here: str) -> str:
    """Return what is missing between two values, or after the last one."""
    if not here:
        return "a closing } or ] is missing at the end"
    return (
        f"a comma is missing at the end of line {_last_line_number(before)}" if here.startswith(('"', "{", "[")) else ""
    )


def _last_line_number(text: str) -> int:
    """Return the number of the last line of a text, counted from 1."""
    return text.count("\n") + 1
