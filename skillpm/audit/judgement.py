"""How severe a match is: by the host in it, and by what is written in the same sentence, table or fence."""

from re import Match

from skillpm.audit.checks.hosts import HOSTILE, HostKind, worst_host
from skillpm.audit.checks.source_file import SourceFile
from skillpm.audit.model.finding import LOWER, AuditFinding, Severity
from skillpm.audit.model.rule import Pattern, Rule, compiled
from skillpm.audit.rules.vocabulary import NEGATED, QUOTED, REPORTED

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
