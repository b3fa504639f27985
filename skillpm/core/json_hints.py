"""The slips that make a JSON file written by hand unreadable, in words that say which one it most likely is."""

import re

BARE_WORD = re.compile(r"[A-Za-z_]\w*")
PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}


def likely_mistake(text: str, position: int, parser_message: str) -> str:
    """Say what most likely is wrong where a parser stopped, at the character `at`; nothing where that is not known."""
    before, here = text[:position].rstrip(), text[position:].lstrip()
    if not text.strip():
        return "the file is empty"
    if here.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if here.startswith("'"):
        return 'all texts stand in "double quotes"'
    if before.endswith(",") and here.startswith(("}", "]")):
        return f"the comma at the end of line {_last_line_number(before)} is one too many"
    if "trailing comma" in parser_message.lower():  # Python 3.13 stops at the comma itself
        return f"the comma in line {_last_line_number(text[: position + 1])} is one too many"
    if parser_message.startswith("Expecting ',' delimiter"):
        return _missing_separator(before, here)
    word = BARE_WORD.match(here)
    if word and word[0] in PYTHON_LITERALS:
        return f"it is `{PYTHON_LITERALS[word[0]]}` in JSON"
    if word and parser_message.startswith("Expecting property name"):
        return 'all names stand in "double quotes"'
    if parser_message.startswith(("Invalid control character", "Unterminated string")):
        return f'a closing " is missing in line {_last_line_number(text[:position])}'
    return ""


def _missing_separator(before: str, here: str) -> str:
    """Say what is missing between two values, or behind the last one."""
    if not here:
        return "a closing } or ] is missing at the end"
    return (
        f"a comma is missing at the end of line {_last_line_number(before)}" if here.startswith(('"', "{", "[")) else ""
    )


def _last_line_number(text: str) -> int:
    """Give the number of a text's last line."""
    return text.count("\n") + 1
