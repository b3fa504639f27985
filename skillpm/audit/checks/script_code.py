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

# What JavaScript puts together while it runs: `'ev' + 'al'`, `ev${'al'}`, `['ev', 'al'].join('')`.
ASSEMBLED = lazy_pattern(
    r"""['"][\w.:]{1,20}['"](?:\s{0,9}\+\s{0,9}['"][\w.:]{1,20}['"]){1,8}|`(?:\w{1,20}|\$\{\s?['"]\w{1,20}['"]\s?\}){2,8}+`"""
    r"""|\[(?:\s{0,9}['"][\w.]{1,20}['"],?){2,8}\s{0,9}\]\s{0,9}\.join\(\s{0,9}['"]([_:.-]?)['"]\s{0,9}\)"""
)
PART = lazy_pattern(r"""['"]([\w.:]*)['"]|(\w+)""")
ASSEMBLED_NAMES = frozenset(
    ["eval", "Function", "constructor", "child_process", "node:child_process", "exec", "execSync", "spawn", "require"]
)
# Programs in a text, however they are reached.
NAMESPACED = lazy_pattern(
    r"""\bReflect\.(?:get|apply)\s*\(\s*global\w{0,10}|\bglobalThis\s*\[\s*['"`]eval|\[['"]constructor['"]\]\s*\[['"]constructor"""
    r"""|\bimport\s*\(\s*['"`]data:text/javascript"""
)
LOADED = lazy_pattern(r"\b(?:const|let|var)\s+(\w{1,40})\s*=\s*[^;\n]{0,120}?\b(?:fetch|axios(?:\.get)?|got|atob)\s*\(")
EVALUATED = lazy_pattern(
    r"\b(?:eval|Function|runIn(?:This|New)?Context)\s*\(\s*(?:await\s+)?(?:(\w{1,40})\s*[,)]|\(?\s*await\s+\(?\s*(?:await\s+)?fetch\s*\()"
)
# `& ('I' + 'EX')`, `&("{1}{0}" -f 'ex', 'i')`: PowerShell calls a name in pieces.
POWERSHELL_PIECES = lazy_pattern(
    r"""[&.]\s{0,9}\(\s{0,9}(?:['"][\w-]{1,20}['"]\s{0,9}\+|['"](?:\{\d\}){2,9}['"]\s{0,9}-f)"""
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
    if file.kind == "javascript":
        yield from _check_javascript(file)
    for match in file.search(("&", ". ("), POWERSHELL_PIECES) if file.kind == "powershell" else ():
        message = f"calls a name in pieces: {excerpt(match[0])}"
        yield file.finding("obfuscated-code", "high", file.line_of(match), message)


def _check_javascript(file: SourceFile) -> Iterator[AuditFinding]:
    for match in file.search(("+", "${", ".join("), ASSEMBLED):
        separator = match[1] or ""
        text = match[0].rpartition(".join")[0] if match[1] is not None else match[0]
        name = separator.join(first or second for first, second in PART.findall(text))
        if name in ASSEMBLED_NAMES:
            yield file.finding("obfuscated-code", "high", file.line_of(match), f"gets `{name}` by a name in pieces")
    for match in file.search(("reflect", "globalthis", "constructor", "data:text"), NAMESPACED):
        message = f"runs a text in a roundabout way: {excerpt(match[0])}"
        yield file.finding("obfuscated-code", "high", file.line_of(match), message)
    loaded = {match[1] for match in file.search(("fetch", "axios", "got", "atob"), LOADED)}
    for match in file.search(("eval", "function", "context"), EVALUATED):
        if match[1] is None or match[1] in loaded:
            message = f"runs what it downloads or decodes: {excerpt(match[0])}"
            yield file.finding("dynamic-code", "high", file.line_of(match), message)
