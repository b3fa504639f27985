"""The check of the audit: findings that block or warn, exceptions to them, and the findings of other scanners."""

from collections.abc import Iterable, Iterator, Sequence

from skillpm.audit.finding import AuditFinding
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import list_some
from skillpm.formats.pin import describe_pin
from skillpm.formats.trust.audit_settings import AuditException, AuditScanner, names_rule
from skillpm.formats.trust.sarif import ScannerFinding
from skillpm.operations.audit.scanners import ScannerFailed, run_scanner
from skillpm.operations.audit.verdicts import read_or_audit
from skillpm.operations.content_validation.problems import IncomingSkill, Problem, ValidationRequest
from skillpm.operations.context.audit_settings import check_rule_names
from skillpm.operations.review.review_state import needs_review

# More skills with warnings than this share one line.
MAX_WARNED = 5
MAX_RULES_NAMED = 6
Finding = AuditFinding | ScannerFinding


def find_audit_problems(request: ValidationRequest) -> Iterator[Problem]:
    """Yield the findings that block, and report the others: at most one line a skill."""
    check_rule_names(request.options.allow, request.audit.scanners, "--allow")
    warned: dict[str, Sequence[Finding]] = {}
    for skill in request.incoming:
        if not needs_review(skill.locked):
            continue  # it ships with skillpm
        findings: list[Finding] = [*read_or_audit(request.context, skill.tree, skill.digest)]
        for scanner in request.audit.scanners.values():
            try:
                findings += _scan(request, scanner, skill)
            except ScannerFailed as error:
                yield Problem(skill=skill.name, kind="audit", rule=scanner.name, message=error.message)
        blocking = [each for each in findings if is_blocking(request, skill, each)]
        hint = _install_hint(skill, [each.rule for each in blocking])
        yield from (to_problem(skill, each, hint) for each in blocking)
        known = _known_rules(request, skill)
        others = [each for each in findings if request.audit.warns(each.rule, each.severity) and each.rule not in known]
        if others and not blocking:
            warned[skill.name] = others
    _warn(request, warned)


def is_blocking(request: ValidationRequest, skill: IncomingSkill, finding: Finding) -> bool:
    """Return whether a finding refuses a skill: a rule blocks it, and no exception covers it."""
    if names_rule(request.audit.required, finding.rule, finding.severity):
        return True  # a policy blocks it
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
    findings = read_or_audit(request.context, skill.tree, skill.digest) if needs_review(skill.locked) else ()
    return {each.rule for each in findings if request.audit.blocks(each.rule, each.severity)}


def _report_expired(request: ValidationRequest, exceptions: Iterable[AuditException]) -> None:
    for each in exceptions:
        request.context.reporter.warn(
            f"{each.where}: the exception for `{each.skill}` ({each.rule}) ended on {each.until}, and no longer applies"
        )


def to_problem(skill: IncomingSkill, finding: Finding, hint: str) -> Problem:
    """Return a finding as the reason to refuse a skill."""
    place = f"{finding.path}:{finding.line}" if finding.path and finding.line else finding.path
    return Problem(
        skill=skill.name,
        kind="audit",
        rule=finding.rule,
        message=finding.message,
        where=place,
        hint=hint,
        digest=skill.digest,
        severity=finding.severity,
    )


def _install_hint(skill: IncomingSkill, rules: Sequence[str]) -> str:
    look = f"`skillpm audit {shell_word(describe_pin(skill.locked.pin))}` shows what it contains"
    options = " ".join(f"--allow {shell_word(rule)}" for rule in dict.fromkeys(rules))
    return f"{look}; to install it all the same, add `{options}`, or an exception for {skill.digest}"


def _scan(request: ValidationRequest, scanner: AuditScanner, skill: IncomingSkill) -> list[Finding]:
    """Return the findings of a scanner, with the scanner's name before the rule."""
    settings = request.context.settings
    found = run_scanner(scanner, skill.name, skill.tree, settings.cache_dir, settings.environ)
    return [each.replace(rule=f"{scanner.name}/{each.rule}") for each in found]


def _known_rules(request: ValidationRequest, skill: IncomingSkill) -> set[str]:
    """Return the rules that found something in the installed version: warnings about them are not repeated."""
    if skill.old is None or skill.old.digest is None or skill.before is None:
        return set()
    return {finding.rule for finding in read_or_audit(request.context, skill.before, skill.old.digest)}


def _warn(request: ValidationRequest, warned: dict[str, Sequence[Finding]]) -> None:
    warn = request.context.reporter.warn
    if len(warned) > MAX_WARNED:
        rules = _count_rules([each for findings in warned.values() for each in findings])
        warn(f"audit: findings in {len(warned)} skills: {rules}; `{request.scope.command('audit')}` shows them")
        return
    for name, findings in warned.items():
        warn(f"{name}: audit: {_count_rules(findings)}; `{request.scope.command('audit', name)}` shows them")


def _count_rules(findings: Sequence[Finding]) -> str:
    """Return the rules with the number of their findings, the most frequent first."""
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return list_some([f"{rule} ({count})" if count > 1 else rule for rule, count in ordered], MAX_RULES_NAMED)
