"""Apply all rules to the files of a skill."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from skillpm.audit.checks.hidden_text import check_hidden_text
from skillpm.audit.finding import AuditFinding
from skillpm.audit.source_file import SourceFile
from skillpm.core.file_tree import FileTree

# Of one rule and severity in a skill; the number of the others is a finding, so that a crowd hides nothing.
MAX_FINDINGS = 100
FILE_CHECKS: tuple[Callable[[SourceFile], Iterator[AuditFinding]], ...] = (check_hidden_text,)


def audit_tree(tree: FileTree) -> tuple[AuditFinding, ...]:
    """Return the findings in a skill, by path, line and rule. Never raises.

    Only paths and contents count, not the executable bits, so that the findings belong to the skill's digest.
    """
    return _collect(
        finding
        for tree_file in tree.files
        for file in [SourceFile(tree_file)]
        for check in FILE_CHECKS
        for finding in check(file)
    )


def _collect(findings: Iterable[AuditFinding]) -> tuple[AuditFinding, ...]:
    """Return distinct findings, sorted, with up to `MAX_FINDINGS` of each rule and severity."""
    kept: set[AuditFinding] = set()
    counts: Counter[tuple[str, str]] = Counter()
    rest: dict[tuple[str, str], AuditFinding] = {}
    for finding in findings:
        key = (finding.rule, finding.severity)
        if finding in kept:
            continue
        counts[key] += 1
        if counts[key] <= MAX_FINDINGS:
            kept.add(finding)
        else:
            rest[key] = finding.replace(message=f"and {counts[key] - MAX_FINDINGS} more findings of this rule")
    return tuple(sorted([*kept, *rest.values()], key=lambda item: (item.path, item.line, item.rule, item.message)))
