"""JavaScript and other code that is packed or renamed so that it cannot be read."""

from collections.abc import Iterator

from skillpm.audit.finding import AuditFinding, Severity
from skillpm.audit.source_file import SourceFile, excerpt
from skillpm.core.patterns import lazy_pattern

RENAMED = lazy_pattern(r"\b_0x[0-9a-f]{4,6}\b")
MANY_RENAMED = 12
PACKED = lazy_pattern(
    r"\beval\s*\(\s*function\s*\(\s*p\s*,\s*a\s*,\s*c\s*,\s*k|(?:!\[\]\+\[\]|\[\]\[\(!\[\]|\(\+\[!\[\]"
    r"|\[\+!\+\[\]\]){1,3}"
)
JS_PIECES = lazy_pattern(
    r"""\b(?:global|globalThis|window|this|process|module|self)\s*\[\s*(['"][\w.]{1,20}['"](?:\s*\+\s*['"][\w.]{1,20}['"]){1,8})\s*\]"""
    r"""|\brequire\s*\(\s*(['"]\w{1,20}['"](?:\s*\+\s*['"]\w{1,20}['"]){1,8})\s*\)"""
)
PIECE = lazy_pattern(r"""['"]([\w.]*)['"]""")
REMOTE_EVAL = lazy_pattern(
    r"(?i)\beval\)?\s*\(\s*(?:await\s+)?\(?\s*(?:await\s+)?(?:fetch|axios(?:\.get)?|got|request|http\.get|\$\.get)\s*\("
    r"|\.then\s*\(\s*(?:eval|Function)\s*\)|\.then\s*\(\s*\(?\s*(\w{1,30})\s*\)?\s*=>\s*(?:eval"
    r"|new\s+Function)\s*\(\s*\1\b"
    r"|\b(?:eval|exec)\s*\(?\s*(?:\w{1,20}\.){0,3}(?:open|get|urlopen|urllib\S{0,20}|Net::HTTP\S{0,20}"
    r"|file_get_contents)\s*\(?\s*(?:URI\s*\(\s*)?[\"']https?://|\binclude\s*\(?\s*[\"']https?://"
)


def check_script(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield a finding for each way in which code hides what it runs."""
    if not file.is_script and file.kind not in {"markdown", "text"}:
        return
    renamed = list(file.search(("_0x",), RENAMED))
    if len(renamed) >= MANY_RENAMED:
        message = f"{len(renamed)} identifiers like {excerpt(renamed[0][0])}: the work of an obfuscator"
        yield file.finding("obfuscated-code", "high", file.line_of(renamed[0]), message)
    for match in file.search(("eval", "![]", "+[]"), PACKED):
        yield file.finding("obfuscated-code", "high", file.line_of(match), f"packed code: {excerpt(match[0])}")
    for match in file.search(("require", "global", "window", "this", "process", "module", "self"), JS_PIECES):
        name = "".join(PIECE.findall(match[1] or match[2]))
        yield file.finding("obfuscated-code", "high", file.line_of(match), f"gets `{name}` by a name in pieces")
    for match in file.search(("eval", "function", "exec", "include"), REMOTE_EVAL):
        severity: Severity = "medium" if file.discusses(match) else "high"
        yield file.finding(
            "dynamic-code", severity, file.line_of(match), f"runs what it downloads: {excerpt(match[0])}"
        )
