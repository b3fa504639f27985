"""Apply all rules to the files of a skill."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from skillpm.audit.checks.claims import check_claims
from skillpm.audit.checks.commands import check_commands
from skillpm.audit.checks.credentials import check_across_files, check_credentials
from skillpm.audit.checks.downloads import check_downloads
from skillpm.audit.checks.encoded import check_encoded
from skillpm.audit.checks.files import check_file, check_length
from skillpm.audit.checks.hidden_text import check_hidden_instructions, check_hidden_text, check_mixed_scripts
from skillpm.audit.checks.host_manifests import check_host_manifests
from skillpm.audit.checks.instructions import check_instructions
from skillpm.audit.checks.links import check_links
from skillpm.audit.checks.python_code import check_python
from skillpm.audit.checks.script_code import check_script
from skillpm.audit.checks.secrets import check_secrets
from skillpm.audit.checks.shell_files import check_shell_files
from skillpm.audit.checks.spelling import check_spelling
from skillpm.audit.finding import AuditFinding
from skillpm.audit.source_file import MAX_ALL_TEXTS, MAX_TEXT_SIZE, SourceFile
from skillpm.core.file_tree import FileTree

# Per rule and severity in a skill; the number of the rest is a finding, so that many findings cannot hide one.
MAX_FINDINGS = 100
Check = Callable[[SourceFile], Iterator[AuditFinding]]
FILE_CHECKS: tuple[Check, ...] = (
    check_python,  # first, since the others read the texts that it finds assembled
    check_file, check_hidden_text, check_hidden_instructions, check_mixed_scripts, check_links, check_instructions,
    check_downloads, check_commands, check_spelling, check_encoded, check_script, check_credentials,
    check_secrets, check_shell_files,
)  # fmt: skip


def audit_tree(tree: FileTree) -> tuple[AuditFinding, ...]:
    """Return the findings in a skill, by path, line and rule. Never raises.

    Only paths and contents count, not the executable bits, so that the findings belong to the skill's digest.
    """
    return _collect(_find(tree))


def _find(tree: FileTree) -> Iterator[AuditFinding]:
    files = [*_open(tree)]
    if not files:
        return
    for file in files:
        for check in FILE_CHECKS:
            yield from check(file)
    yield from check_across_files(files)
    yield from check_host_manifests(tree)
    yield from check_claims(tree, files)
    for file in files:
        yield from check_length(file)


def _open(tree: FileTree) -> Iterator[SourceFile]:
    """Yield the files, SKILL.md first, each with what is left of the texts that are read of a skill."""
    left = MAX_ALL_TEXTS
    for tree_file in sorted(tree.files, key=lambda file: (file.path != tree.skill_file, file.path)):
        file = SourceFile(tree_file, min(MAX_TEXT_SIZE, left))
        yield file
        left -= len(file.text)


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
