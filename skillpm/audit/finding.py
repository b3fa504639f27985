"""A finding: what one line of a skill does, by which rule, and how much it matters."""

from typing import Literal

from skillpm.core.values import Value

# `high`: no honest skill needs this. `medium`: have a look before you install. `low`: good to know.
Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
LOWER: dict[Severity, Severity] = {"high": "medium", "medium": "low", "low": "low"}


class AuditFinding(Value):
    """One fact about a line of a skill. All its texts are safe to print."""

    # The id of a rule in `skillpm.audit.rules.RULES`.
    rule: str
    severity: Severity
    # Relative to the skill's folder, with `/`, sanitized.
    path: str
    line: int
    message: str


def is_at_least(severity: Severity, threshold: Severity) -> bool:
    """Return whether a severity is as grave as another, or graver."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(threshold)
