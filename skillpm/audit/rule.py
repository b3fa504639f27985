"""A rule as data, for the documentation, `--explain` and SARIF."""

from skillpm.audit.finding import Severity
from skillpm.core.values import Value


class Example(Value):
    """A file of a skill in which a rule finds something, or does not."""

    text: str
    path: str = "SKILL.md"


class Rule(Value):
    """One rule. Its id never changes its meaning, since settings and suppressions name it."""

    id: str
    # The highest severity of its findings; the context of a line may lower it.
    severity: Severity
    # What a finding says, in a few words.
    title: str
    # Why it matters.
    reason: str
    # What the author, or a reviewer, should do.
    remedy: str
    bad: Example
    good: Example
