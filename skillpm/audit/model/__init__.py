"""What a rule is, as data, and what a finding is."""

import re
from functools import cache
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


# How a match is judged (`auditor.judge`): as it is, lowered by what is written around it, by the most severe host in
# it, by the host to which it sends something, or as a sentence to the reader.
By = Literal["always", "context", "host", "sent", "said"]


class Example(Value):
    """A file of a skill in which a rule finds something, or does not."""

    text: str
    path: str = "SKILL.md"
    # How often the file repeats the text.
    copies: int = 1

    @property
    def content(self) -> str:
        """What the file contains."""
        return self.text * self.copies


class Pattern(Value):
    """A text that a rule finds. It is searched in the lines around its words only, so each match must have one."""

    # Whole words of letters, digits and `_`, in lower case.
    words: str
    # A regular expression in lower case and ASCII.
    text: str
    # Before the match in the message of a finding.
    message: str = ""
    # Of the files in which it is searched: `doc` for prose, `script` for scripts and the fences of documents, `config`
    # for what hosts and package managers run, `data` for other documents of programs.
    kinds: str = "doc script config"
    # None: that of its rule.
    severity: Severity | None = None
    by: By = "context"
    # How many lines above and below the line of a word belong to it.
    above: int = 0
    below: int = 0


class Rule(Value):
    """One rule. Its id never changes its meaning, since settings and suppressions name it."""

    id: str
    # The highest severity of its findings; what is around a finding may lower it.
    severity: Severity
    # What a finding says, in a few words.
    title: str
    # Why it matters.
    reason: str
    # What the author, or a reviewer, should do.
    remedy: str
    bad: Example
    good: Example
    patterns: tuple[Pattern, ...] = ()


@cache
def compiled(text: str) -> re.Pattern[bytes]:
    """Return a pattern over the bytes of a text, compiled when it is first needed."""
    return re.compile(text.encode())
