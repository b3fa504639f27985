"""The check of the audit: findings that block or warn, exceptions to them, and the findings of other scanners."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from skillpm.core.file_tree import FileTree
from skillpm.core.git_syntax import abbreviate_url
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import list_some
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.trust.audit_settings import AuditException, AuditScanner
from skillpm.kinds.git import GitPin
from skillpm.scope.audit_settings import check_rule_names
from skillpm.scope.verdicts import find_manifests, read_or_audit
from skillpm.vetting.problems import IncomingSkill, Problem, ValidationRequest, policy_hint

if TYPE_CHECKING:
    from skillpm.audit.model import AuditFinding
    from skillpm.formats.trust.sarif import ScannerFinding

# More skills with warnings than this share one line.
MAX_WARNED = 5
MAX_RULES_NAMED = 6
Finding: TypeAlias = "AuditFinding | ScannerFinding"


def find_audit_problems(request: ValidationRequest) -> Iterator[Problem]:
    """Yield the findings that block, and report the others: at most one line a skill."""
    check_rule_names(request.options.allow, request.audit.scanners, "--allow")
    warned: dict[str, Sequence[Finding]] = {}
    for skill in request.incoming:
        findings, failures = read_findings(request, skill)
        yield from failures
        blocking = [to_problem(request, skill, each, "") for each in findings if is_blocking(request, skill, each)]
        hint = _install_hint(skill, blocking) if blocking else ""
        yield from (each.replace(hint=hint) for each in blocking)
        known = _known_rules(request, skill)
        others = [each for each in findings if request.audit.warns(each.rule, each.severity) and each.rule not in known]
        if others and not blocking:
            warned[skill.name] = others
    _warn(request, warned)


def read_findings(request: ValidationRequest, skill: IncomingSkill) -> tuple[list[Finding], list[Problem]]:
    """Return what the audit and the configured scanners find in a skill, and which scanners failed."""
    if _ships_with_skillpm(skill.locked):
        return [], []
    findings: list[Finding] = [*_read_findings(request, skill.tree)]
    return findings, [
        each for scanner in request.audit.scanners.values() for each in _scan(request, scanner, skill, findings)
    ]


def _ships_with_skillpm(skill: LockedSkill) -> bool:
    if not skill.pin.bundled_name:
        return False
    from skillpm.fetchers.bundled import is_bundled_content  # noqa: PLC0415  (only for bundled skills)

    return is_bundled_content(skill)


def _read_findings(request: ValidationRequest, tree: FileTree) -> Sequence["AuditFinding"]:
    """Return the findings in some content, which are read once for a request.

    If no rule can block or warn, they are those of the rule that always blocks. The locked digest does not say what is
    in a folder beside the locked files.
    """
    digest = tree.digest
    if digest not in request.findings:
        is_effective = request.audit.is_effective
        found = read_or_audit(request.project.session, tree, digest) if is_effective else find_manifests(tree)
        request.findings[digest] = found
    return request.findings[digest]


def is_blocking(request: ValidationRequest, skill: IncomingSkill, finding: Finding) -> bool:
    """Return whether a finding refuses a skill: a rule blocks it, and no exception covers it."""
    if request.audit.find_policy(finding.rule, finding.severity):
        return True
    is_blocked = request.audit.blocks(finding.rule, finding.severity)
    return is_blocked and finding.rule not in request.options.allow and not is_excepted(request, skill, finding.rule)


def is_excepted(request: ValidationRequest, skill: IncomingSkill, rule: str) -> bool:
    """Return whether an exception covers a rule in this content; one that has ended is reported."""
    found = [each for each in request.audit.allow if each.covers(skill.name, rule, skill.digest)]
    valid = [each for each in found if not each.is_expired(request.today)]
    if not valid:
        _report_expired(request, found)
    return bool(valid)


def find_excepted_rules(request: ValidationRequest, skill: IncomingSkill) -> set[str]:
    """Return the rules of accepted content that would block it, but for an exception or `--allow`."""
    findings = () if _ships_with_skillpm(skill.locked) else _read_findings(request, skill.tree)
    return {each.rule for each in findings if request.audit.blocks(each.rule, each.severity)}


def _report_expired(request: ValidationRequest, exceptions: Iterable[AuditException]) -> None:
    for each in exceptions:
        request.project.reporter.warn(
            f"{each.where}: the exception for `{each.skill}` ({each.rule}) ended on {each.until}, and no longer applies"
        )


def find_place(finding: Finding) -> str:
    """Return file and line of a finding; empty if it is about the whole skill."""
    return f"{finding.path}:{finding.line}" if finding.path and finding.line else finding.path


def to_problem(request: ValidationRequest, skill: IncomingSkill, finding: Finding, hint: str) -> Problem:
    """Return a finding as the reason to refuse a skill."""
    return Problem(
        skill=skill.name,
        kind="audit",
        rule=finding.rule,
        message=finding.message,
        where=find_place(finding),
        hint=hint,
        digest=skill.digest,
        severity=finding.severity,
        policy=request.audit.find_policy(finding.rule, finding.severity),
    )


def _install_hint(skill: IncomingSkill, problems: Sequence[Problem]) -> str:
    """Return how to see all findings, and the two ways to accept them, in less than 200 characters if possible.

    If a policy blocks one of them, no way to accept the others helps.
    """
    pin, spec = skill.locked.pin, skill.locked.pin.describe()
    if isinstance(pin, GitPin) and posixpath.basename(pin.path) == skill.name:
        spec = f"{abbreviate_url(pin.url)}#{pin.commit}@{skill.name}"
    options = " ".join(f"--allow {shell_word(rule)}" for rule in dict.fromkeys(each.rule for each in problems))
    accept = f"`{options}`, or [[audit.allow]] in config.toml, installs it"
    return f"`skillpm audit {shell_word(spec)}` shows all; {policy_hint(problems) or accept}"


def _scan(
    request: ValidationRequest, scanner: AuditScanner, skill: IncomingSkill, findings: list[Finding]
) -> Iterator[Problem]:
    """Add the findings of a scanner, with the scanner's name before the rule; yield its failure."""
    from skillpm.vetting.scanners import ScannerFailed, run_scanner  # noqa: PLC0415  (few users have any)

    settings = request.project.settings
    try:
        found = run_scanner(scanner, skill.name, skill.tree, settings.cache_dir, settings.environ)
    except ScannerFailed as error:
        yield Problem(skill=skill.name, kind="audit", rule=scanner.name, message=error.message)
        return
    findings += [each.replace(rule=f"{scanner.name}/{each.rule}") for each in found]


def _known_rules(request: ValidationRequest, skill: IncomingSkill) -> set[str]:
    """Return the rules that found something in the installed version: warnings about them are not repeated."""
    if skill.old is None or skill.old.digest is None or skill.before is None:
        return set()
    return {finding.rule for finding in _read_findings(request, skill.before)}


def _warn(request: ValidationRequest, warned: dict[str, Sequence[Finding]]) -> None:
    warn = request.project.reporter.warn
    if len(warned) > MAX_WARNED:
        rules = _count_rules([each for findings in warned.values() for each in findings])
        warn(f"audit: findings in {len(warned)} skills: {rules}; `{request.project.command('audit')}` shows them")
        return
    for name, findings in warned.items():
        warn(f"{name}: audit: {_count_rules(findings)}; `{request.project.command('audit', name)}` shows them")


def _count_rules(findings: Sequence[Finding]) -> str:
    """Return the rules with the number of their findings, the most frequent first."""
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return list_some([f"{rule} ({count})" if count > 1 else rule for rule, count in ordered], MAX_RULES_NAMED)
