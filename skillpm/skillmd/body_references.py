r"""References in the body of a SKILL.md: files as `@file`, and shell commands as ``!`command` ``.

The patterns are those of the loaders that introduced the notation. They are written for JavaScript, where `\w` is ASCII
and `\s` differs from Python's in a few characters. Commands are only listed; skillpm never runs them.
"""

from skillpm.core.patterns import lazy_pattern

WHITESPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
FILE_REFERENCE = lazy_pattern(rf"(?<![A-Za-z0-9_`])@(\.?[^{WHITESPACE}`,.]*(?:\.[^{WHITESPACE}`,.]+)*)")
SHELL_COMMAND = lazy_pattern(r"!`([^`]+)`")


def find_file_references(body: str) -> tuple[str, ...]:
    """Return the paths after `@`, without duplicates, in the order of the text."""
    return tuple(dict.fromkeys(match[1] for match in FILE_REFERENCE.finditer(body) if match[1]))


def find_shell_commands(body: str) -> tuple[str, ...]:
    """Return the commands in ``!`…` ``, in the order of the text."""
    return tuple(match[1] for match in SHELL_COMMAND.finditer(body))
