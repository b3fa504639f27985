r"""Files and commands that the body of a SKILL.md speaks of: `@file` and ``!`command` ``, found, nothing more.

The expressions are those of the loaders that made the notation, which are written for JavaScript: `\w` is ASCII
there, and what counts as a blank differs from Python's in a few characters. Whether a file is there is for whoever
has a disk to say; a command is text, and nothing of ours ever runs it.
"""

import re

WHITESPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
FILE_REFERENCE = re.compile(rf"(?<![A-Za-z0-9_`])@(\.?[^{WHITESPACE}`,.]*(?:\.[^{WHITESPACE}`,.]+)*)")
SHELL_COMMAND = re.compile(r"!`([^`]+)`")


def find_file_references(body: str) -> tuple[str, ...]:
    """Give what stands behind `@`, each once, in the order of the text; an `@` with nothing behind it is none."""
    return tuple(dict.fromkeys(match[1] for match in FILE_REFERENCE.finditer(body) if match[1]))


def find_shell_commands(body: str) -> tuple[str, ...]:
    """Give what stands in ``!`…` ``, all of it, in the order of the text."""
    return tuple(match[1] for match in SHELL_COMMAND.finditer(body))
