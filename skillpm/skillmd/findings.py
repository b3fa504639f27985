"""What reading a SKILL.md found: values with a stable code, a level, a message and a line."""

from typing import Literal

from skillpm.core.values import Value


class Finding(Value):
    """One remark on a file. An `error` means that it cannot be loaded; a `warning` stops nothing."""

    code: str
    level: Literal["error", "warning"]
    message: str
    line: int = 1


class NotLoadable(Exception):
    """A file that cannot be loaded, and why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def error(code: str, message: str, line: int = 1) -> Finding:
    """Make a finding that means: not loadable, or not valid."""
    return Finding(code=code, level="error", message=message, line=line)


def warning(code: str, message: str, line: int = 1) -> Finding:
    """Make a finding that stops nothing."""
    return Finding(code=code, level="warning", message=message, line=line)


def not_loadable(code: str, message: str, line: int = 1) -> NotLoadable:
    """Make the exception that ends a reading."""
    return NotLoadable(error(code, message, line))
