"""The slips that make a JSON file written by hand unreadable, in words that say which one it most likely is."""

import re

BARE = re.compile(r"[A-Za-z_]\w*")
PYTHON = {"True": "true", "False": "false", "None": "null"}


def likely_slip(text: str, at: int, said: str) -> str:
    """Say what most likely is wrong where a parser stopped, at the character `at`; nothing where that is not known."""
    before, here = text[:at].rstrip(), text[at:].lstrip()
    if not text.strip():
        return "the file is empty"
    if here.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if here.startswith("'"):
        return 'all texts stand in "double quotes"'
    if before.endswith(",") and here.startswith(("}", "]")):
        return f"the comma at the end of line {_line(before)} is one too many"
    if "trailing comma" in said.lower():  # Python 3.13 stops at the comma itself
        return f"the comma in line {_line(text[: at + 1])} is one too many"
    if said.startswith("Expecting ',' delimiter"):
        return _not_parted(before, here)
    word = BARE.match(here)
    if word and word[0] in PYTHON:
        return f"it is `{PYTHON[word[0]]}` in JSON"
    if word and said.startswith("Expecting property name"):
        return 'all names stand in "double quotes"'
    if said.startswith(("Invalid control character", "Unterminated string")):
        return f'a closing " is missing in line {_line(text[:at])}'
    return ""


def _not_parted(before: str, here: str) -> str:
    """Say what is missing between two values, or behind the last one."""
    if not here:
        return "a closing } or ] is missing at the end"
    return f"a comma is missing at the end of line {_line(before)}" if here.startswith(('"', "{", "[")) else ""


def _line(text: str) -> int:
    """Give the number of a text's last line."""
    return text.count("\n") + 1
