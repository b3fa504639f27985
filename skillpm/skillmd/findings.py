"""Findings about a SKILL.md, with a stable code, a level, a message and a line."""

from typing import Literal

from skillpm.core.values import Value


class Finding(Value):
    """One problem of a file. An `error` means that it cannot be loaded or is invalid; a `warning` is advice."""

    code: str
    level: Literal["error", "warning"]
    message: str
    line: int = 1


class NotLoadable(Exception):
    """A file cannot be loaded, because of one finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def error(code: str, message: str, line: int = 1) -> Finding:
    """Return a finding that makes a file unloadable or invalid."""
    return Finding(code=code, level="error", message=message, line=line)


def warning(code: str, message: str, line: int = 1) -> Finding:
    """Return a finding that is only advice."""
    return Finding(code=code, level="warning", message=message, line=line)


def not_loadable(code: str, message: str, line: int = 1) -> NotLoadable:
    """Return the exception for a file that cannot be loaded."""
    return NotLoadable(error(code, message, line))
