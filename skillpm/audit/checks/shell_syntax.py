"""Patterns of shell commands that several checks use, and where a command is only discussed."""

from re import Match

from skillpm.audit.finding import LOWER, Severity
from skillpm.audit.source_file import SourceFile
from skillpm.core.patterns import lazy_pattern

# An interpreter that reads its program from a pipe: not `bash script.sh`, not `python -m json.tool`.
_BARE = r"(?=\s*(?:$|[\n\v;&|)\"'`\\>]))"
SHELL = (
    r"(?:sudo\s+(?:-\w+\s+){0,3}|env\s+|command\s+|exec\s+|nohup\s+|busybox\s+|xargs\s+(?:-\S{1,9}\s+){0,3})?"
    r"(?:\$[({]?SHELL\b|(?<=\s-0\s)(?:ba)?sh\s+-c(?=\s*$)|"
    r"(?:/{1,2}(?:usr/)?(?:local/)?bin/)?(?:env\s+)?"
    rf"(?:(?:ba|z|da|k|a|fi)?sh(?:{_BARE}|(?=\s+-(?:\s|[sexlivu]{{1,4}}\b|-)))"
    rf"|(?:python[\d.]{{0,4}}|node|perl|ruby|php|osascript)(?:{_BARE}|(?=\s+-(?:$|[\s\"'`])))))"
)
FETCH = r"(?:curl|wget|lwp-request|fetch|aria2c|https?(?=\s)|xh(?=\s)|dig(?=\s)|ssh(?=\s))"
# Up to the end of a command; a pipe only into programs that pass text on.
REST = r"[^\n|;&]{0,400}+(?:&(?![&\s])[^\n|;&]{0,400}+){0,9}+"
FILTERS = (
    r"(?:\\?\|\s*(?:tee|sed|tr|cat|grep|head|tail|awk|base64|gunzip|zcat|xz|bzip2|openssl|jq|rev|iconv|cut|sort"
    r"|uniq|tac|gzip|bzcat|xzcat|zstd|dd|fold|strings)\b"
    r"[^\n|;&]{0,200}){0,4}"
)
# Parts of a regular expression: the line searches for the command.
REGEX = lazy_pattern(r"\.\*|\.\+|\[\^|\\s[*+]|\(\?:|\\b|\\\.|\.\{\d")
ARGUMENT = lazy_pattern(r"(?i)\bhttps?://[^\s|]{1,500}|\s-{1,2}[\w-]{1,30}[ =][\"']?[^\s|\"']{1,80}[\"']?(?=\s)")


def severity_in_context(file: SourceFile, match: Match[str], severity: Severity) -> Severity:
    """Return the severity, one step lower where a command is only discussed, or part of a search for it."""
    if file.context_of(file.line_of(match)) == "comment":
        return "low"
    # What an address or an option contains does not make the command around it a pattern.
    if REGEX.search(ARGUMENT.sub("", match[0])):
        return "low"
    return LOWER[severity] if file.discusses(match) else severity
