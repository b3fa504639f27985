"""URLs with a deceptive destination, bare addresses, short links, and hosts that collect data."""

from collections.abc import Iterator
from re import Match

from skillpm.audit.checks.hosts import find_urls, kind_of
from skillpm.audit.checks.source_file import SourceFile, excerpt
from skillpm.audit.model.finding import AuditFinding, Severity
from skillpm.audit.model.rule import compiled
from skillpm.audit.rules.vocabulary import CODE_LINK, KNOWN_HOSTS, LOOKALIKES, NAME


def check_links(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield the URLs of a file that hide where they lead, or who receives what is sent there."""
    low = file.raw.lower()
    for url in find_urls(low):
        kind = kind_of(url)
        if message := _describe_deception(url, kind):
            gravity: Severity = "medium" if file.is_about_attacks else "high"
            yield file.finding("deceptive-link", gravity, file.raw_line_of(url.start()), message)
        elif kind in {"address", "shortener", "collector"}:
            severity: Severity = "medium" if _is_used(file, low, url) else "low"
            line, host = file.raw_line_of(url.start()), excerpt(url[3].decode("utf-8", "replace"))
            if kind == "collector":
                message = f"{host} collects data for unknown recipients"
                yield file.finding("collector-host", severity, line, message)
            else:
                text = excerpt(file.raw[url.start() : url.end()].decode("utf-8", "replace"))
                message = f"{text} is {'a bare IP address' if kind == 'address' else 'a short link'}"
                yield file.finding("unnamed-host", severity if file.kind != "data" else "low", line, message)
    if file.kind == "doc" and not file.words.isdisjoint((b"javascript", b"vbscript", b"html")):
        for match in compiled(CODE_LINK).finditer(file.low):
            severity = "medium" if file.is_discussed(*match.span()) else "high"
            code = file.excerpt(match.start() + 2, match.end())
            yield file.finding("deceptive-link", severity, file.line_of(match.start()), f"the link runs code: {code}")


def _is_used(file: SourceFile, low: bytes, url: Match[bytes]) -> bool:
    """Return whether a URL is in code, and not in a comment or a document."""
    if file.kind in {"config", "data"}:
        return True
    return file.kind == "script" and not (len(low) == len(file.text) and file.is_comment(url.start()))


def _describe_deception(url: Match[bytes], kind: str) -> str:
    host, shown = url[3].strip(b"."), excerpt(url[3].decode("utf-8", "replace"))
    if kind == "lookalike":
        if b"xn--" in host:
            return f"{shown} is a name in other letters"
        return f"`{host.decode('utf-8', 'replace').translate(LOOKALIKES)}` is spelled with look-alike letters"
    if host.startswith(KNOWN_HOSTS) and kind != "local":
        return f"{shown} only begins like a known host"
    name, has_password, _ = (url[2] or b"").partition(b":")
    if not has_password and b"$" not in name and b"{" not in name and compiled(NAME).fullmatch(name):
        return f"{excerpt(url[0].decode('utf-8', 'replace'))} leads to {shown}, not to {excerpt(name.decode())}"
    return ""
