"""A finding: a line of a skill, the rule, and the severity."""

from typing import Literal

from skillpm.core.values import Value

# `high`: no honest skill needs this. `medium`: review it before you install the skill. `low`: for information.
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
    """Return whether a severity is at least another one."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(threshold)
