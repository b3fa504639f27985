"""The hosts in URLs: whose installers are widely used, which hide a recipient, and links whose text names another."""

from collections.abc import Iterator
from functools import lru_cache
from re import Match
from typing import Literal, get_args

from skillpm.audit.checks.source_file import SourceFile, excerpt
from skillpm.audit.model import AuditFinding, Severity, compiled
from skillpm.audit.rules import vocabulary
from skillpm.audit.rules.vocabulary import CODE_LINK, KNOWN_HOSTS, LOOKALIKES, NAME

HostKind = Literal[
    "address", "lookalike", "collector", "shortener", "unencrypted", "plain", "unknown", "local", "installer"
]
# The most severe first; `unknown` for an address that is built at run time.
GRAVITY: tuple[HostKind, ...] = get_args(HostKind)
# They hide who serves, or who receives.
HOSTILE = frozenset(GRAVITY[:4])


def find_urls(text: bytes) -> Iterator[Match[bytes]]:
    """Yield each URL of a text in lower case: scheme, user info, host, path."""
    at = text.find(b"://")
    while at >= 0:
        schemes = (scheme for scheme in (b"https", b"http", b"ftp", b"wss", b"ws") if text.endswith(scheme, 0, at))
        start = max((at - len(scheme) for scheme in schemes), default=-1)
        match = compiled(vocabulary.URL).match(text, start) if start >= 0 else None
        if match is not None:
            yield match
        at = text.find(b"://", at + 3 if match is None else match.end())


def kind_of(url: Match[bytes]) -> HostKind:
    """Return what is known about the host of a match of `URL`."""
    return classify(url[1], url[3].strip(b"."), url[4] or b"")


@lru_cache(4_096)
def classify(scheme: bytes, host: bytes, path: bytes) -> HostKind:
    """Return what is known about a host, the most severe first."""
    if compiled(vocabulary.LOCAL).fullmatch(host):
        return "local"
    if compiled(vocabulary.ADDRESS).fullmatch(host) or host.endswith(vocabulary.ADDRESS_SUFFIXES):
        return "address"
    if b"xn--" in host or not host.isascii():
        is_known = any(letter in vocabulary.LOOKALIKE_LETTERS for letter in host.decode("utf-8", "replace"))
        return "lookalike" if b"xn--" in host or is_known else "plain"
    if host in vocabulary.SHORTENERS:
        return "shortener"
    labels = host.split(b".")
    domains = {b".".join(labels[-count:]) for count in range(2, min(len(labels), 5) + 1)}
    if not domains.isdisjoint(vocabulary.COLLECTORS) or (host + path).startswith(vocabulary.COLLECTOR_PATHS):
        return "collector"
    if scheme in {b"http", b"ftp", b"ws"}:
        return "unencrypted"
    if (host + path + b"/").startswith(vocabulary.INSTALLERS):
        return "installer"
    return "plain" if scheme else "unencrypted"


def worst_host(text: bytes) -> HostKind:
    """Return the kind of the most severe host in a command."""
    kinds = [kind_of(url) for url in find_urls(text)]
    if not kinds:
        kinds = [
            classify(b"", match[1], match[2] or b"")
            for match in compiled(vocabulary.BARE_HOST).finditer(text)
            if not match[1].endswith(vocabulary.FILE_SUFFIXES)
        ]
    return min(kinds, key=GRAVITY.index, default="unknown")


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
