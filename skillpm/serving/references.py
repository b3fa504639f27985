"""Files and commands that a skill's body speaks of. Commands are listed and never run. Pure."""

import re
from collections.abc import Collection

# Both expressions are those of the loaders that made the notation (OpenCode); `@` in an address or in code is none.
FILE = re.compile(r"(?<![\w`])@(\.?[^\s`,.]*(?:\.[^\s`,.]+)*)")
COMMAND = re.compile(r"!`([^`]+)`")


def file_references(body: str) -> tuple[str, ...]:
    """Give what stands behind `@`, each once, in the order of the text."""
    return tuple(dict.fromkeys(match[1] for match in FILE.finditer(body) if match[1]))


def shell_commands(body: str) -> tuple[str, ...]:
    """Give what stands in ``!`…` ``, all of it, in the order of the text. Nothing here runs it."""
    return tuple(match[1] for match in COMMAND.finditer(body))


def references_inside(body: str, files: Collection[str]) -> tuple[str, ...]:
    """Give the file references that are files of the skill; `files` are its paths. What leads out is no reference."""
    found = (reference.removeprefix("./") for reference in file_references(body))
    return tuple(path for path in dict.fromkeys(found) if path in files)
