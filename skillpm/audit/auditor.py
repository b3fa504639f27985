"""Apply all rules to the files of a skill."""

from collections import Counter
from collections.abc import Iterable, Iterator
from re import Match

from skillpm.audit.checks.claims import check_claims
from skillpm.audit.checks.credentials import Facts, check_flows, read_facts
from skillpm.audit.checks.encoded import check_runs
from skillpm.audit.checks.files import check_file
from skillpm.audit.checks.hidden_text import check_hidden_instructions, check_hidden_text
from skillpm.audit.checks.host_manifests import check_host_manifests
from skillpm.audit.checks.source_file import MAX_ALL_TEXTS, MAX_TEXT_SIZE, SourceFile
from skillpm.audit.checks.web_hosts import HOSTILE, HostKind, check_links, worst_host
from skillpm.audit.model import LOWER, AuditFinding, Pattern, Rule, Severity, compiled
from skillpm.audit.rules import patterns_for
from skillpm.audit.rules.vocabulary import NEGATED, QUOTED, REPORTED
from skillpm.core.file_tree import FileTree, TreeFile

# Per rule and severity in a skill; the number of the rest is a finding, so that many findings cannot hide one.
MAX_FINDINGS = 100
# Judged files that are remembered: the skills of a command share licences, schemas and helpers.
MAX_REMEMBERED = 5_000
Judged = tuple[tuple[AuditFinding, ...], Facts]
_judged: dict[tuple[object, ...], Judged] = {}


def audit_tree(tree: FileTree) -> tuple[AuditFinding, ...]:
    """Return the findings in a skill, by path, line and rule. Never raises.

    Only paths and contents count, not the executable bits, so that the findings belong to the skill's digest.
    """
    return _collect(_find(tree))


def _find(tree: FileTree) -> Iterator[AuditFinding]:
    if not tree.files:
        return
    facts: list[tuple[SourceFile, Facts]] = []
    left = MAX_ALL_TEXTS
    for tree_file in sorted(tree.files, key=lambda file: (file.path != tree.skill_file, file.path)):
        is_skill_file = tree_file.path == tree.skill_file
        file = SourceFile(tree_file.path, tree_file.data, min(MAX_TEXT_SIZE, left), is_skill_file=is_skill_file)
        yield from check_file(file)
        findings, found = _judge_once(file, tree_file)
        yield from (finding if finding.path == file.path else finding.replace(path=file.path) for finding in findings)
        facts.append((file, found))
        left -= len(file.raw)
    yield from check_flows(facts)
    yield from check_host_manifests(tree)
    yield from check_claims(tree, facts[0][0])


def _judge_once(file: SourceFile, tree_file: TreeFile) -> Judged:
    """Judge a file, or return how an equal one was judged: one with the same bytes, and of which the same is asked."""
    if not tree_file.content_hash:
        return _judge(file)
    is_cut = len(file.data) > file.limit and file.limit
    key = (tree_file.content_hash, file.kind, file.extension, file.is_read, file.names_attacks, is_cut)
    if key not in _judged:
        if len(_judged) >= MAX_REMEMBERED:
            _judged.clear()
        _judged[key] = _judge(file)
    return _judged[key]


def _judge(file: SourceFile) -> Judged:
    if file.kind == "binary":
        return (), Facts()
    found = [*check_hidden_text(file), *check_runs(file)]
    if file.kind != "bulk":
        found += check_links(file)
        found += _check_patterns(file)
        if file.kind == "doc":
            found += check_hidden_instructions(file)
    return tuple(found), read_facts(file)


def _check_patterns(file: SourceFile) -> Iterator[AuditFinding]:
    for rule, pattern, words in patterns_for(file.kind):
        if words.isdisjoint(file.words):
            continue
        is_for_all = file.kind in pattern.kinds
        for match in file.search(pattern):
            if is_for_all or file.fence_at(match.start()) is not None:
                finding = judge(rule, pattern, file, match)
                if finding is not None:
                    yield finding


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


# The severity of a command by the kind of its most severe host, and what it runs.
BY_HOST: dict[HostKind, tuple[Severity, str]] = {
    "address": ("high", "what a bare IP address serves"),
    "lookalike": ("high", "what a host with look-alike letters serves"),
    "collector": ("high", "what a paste or a tunnel serves"),
    "shortener": ("high", "what a short link hides"),
    "unencrypted": ("high", "what an attacker on the network can change"),
    "plain": ("medium", "what that host serves at run time"),
    "unknown": ("medium", "what a URL that is built at run time serves"),
    "local": ("low", "what a server on this machine or network serves"),
    "installer": ("low", "a documented installer"),
}


def judge(rule: Rule, pattern: Pattern, file: SourceFile, match: Match[bytes]) -> AuditFinding | None:
    """Return the finding for a match of a pattern; None if the text says the contrary."""
    start, end = match.span()
    severity, reason = pattern.severity or rule.severity, ""
    host: HostKind = "unknown"
    if pattern.by in {"host", "sent"}:
        host = worst_host(match[0] if pattern.by == "host" else file.low[start : file.line_end(end, 300)])
        by_host, reason = BY_HOST[host]
        severity = by_host if pattern.by == "host" or by_host != "medium" else severity
    elif pattern.by == "said":
        before = file.low[file.line_start(start, 200) : start]
        if compiled(NEGATED).search(before):
            return None
        is_quoted = compiled(QUOTED).search(before) or compiled(REPORTED).search(before)
        if is_quoted or file.is_code(start) or file.is_in_code_span(start):
            severity = LOWER[severity]
    elif severity == "high":
        host = worst_host(compiled(r"/dev/(?:tcp|udp)/").sub(b" ", file.low[start : file.line_end(end, 100)]))
    if pattern.by != "always" and host not in HOSTILE and severity != "low" and file.is_discussed(start, end):
        severity = LOWER[severity]
    if severity == "high" and host not in HOSTILE and file.is_about_attacks:
        severity = "medium"
    text = file.excerpt(start, end)
    message = f"{text} runs {reason}" if pattern.by == "host" else f"{pattern.message}: {text}"
    return file.finding(rule.id, severity, file.line_of(start), message)
