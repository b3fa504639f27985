"""URLs with a deceptive destination."""

from collections.abc import Iterator

from skillpm.audit.finding import AuditFinding, Severity
from skillpm.audit.hosts import LOOKALIKES, URL, Url, read_url
from skillpm.audit.rule import Example, Rule
from skillpm.audit.source_file import SourceFile, excerpt
from skillpm.core.patterns import lazy_pattern

MARKDOWN_LINK = lazy_pattern(
    r"\[([^\]\n]{1,200})\]\(\s*<?(https?://[^\s)>]{1,400})|\[([^\]\n]{1,200})\]\[([^\]\n]{1,60})\]"
    r"|<a\s[^>\n]{0,100}?\bhref\s*=\s*[\"']?(https?://[^\s\"'>]{1,400})[^>\n]{0,100}>([^<\n]{1,200})</a>"
)
REFERENCE = lazy_pattern(r"(?m)^[ ]{0,3}\[([^\]\n]{1,60})\]:[ \t]{0,9}<?(https?://[^\s>]{1,400})")
# Hosts whose names others put before their own.
KNOWN_HOSTS = (
    *(
        "github.com.",
        "raw.githubusercontent.com.",
        "gitlab.com.",
        "pypi.org.",
        "npmjs.com.",
        "google.com.",
        "microsoft.com.",
    ),
    *("anthropic.com.", "openai.com.", "apple.com.", "amazonaws.com."),
)
SHOWN_HOST = lazy_pattern(r"(?i)^\W{0,3}(?:https?://)?((?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,12})(?:[/\s:?#]|\W{0,3}$)")
BARE_ADDRESS = lazy_pattern(r"\b(?:curl|wget)\s(?:[^\n|;]{0,200}?\s)?[\"']?(\d{8,10}|0x[0-9a-fA-F]{8})(?=[/:\s\"']|$)")
FILE_ENDINGS = (
    ".md",
    ".py",
    ".js",
    ".ts",
    ".sh",
    ".json",
    ".html",
    ".yaml",
    ".yml",
    ".txt",
    ".rs",
    ".go",
    ".net",
    ".io",
)
DATA_URL = lazy_pattern(r"(?i)(?:\]\(|href\s*=\s*[\"']?)\s*(?:data:text/html|javascript:|vbscript:)[^\s)]{1,80}")

RULES = (
    Rule(
        id="deceptive-link",
        severity="high",
        title="A link with a deceptive destination",
        reason="Look-alike letters, a known name before an `@`, or a text that shows another host make readers and "
        "agents trust an address that they otherwise would not.",
        remedy="Write the actual destination of the link.",
        bad=Example(text="Get it from https://github.com@45.61.136.10/tool.\n"),
        good=Example(text="Get it from [github.com/acme/tool](https://github.com/acme/tool).\n"),
    ),
    Rule(
        id="unnamed-host",
        severity="medium",
        title="A bare IP address or a short link",
        reason="A reader does not know who owns a bare IP address, and the target of a short link can change. In a "
        "script, or next to a command, it is medium; elsewhere low.",
        remedy="Name the host.",
        bad=Example(text='url = "http://45.61.136.10/v1"\n', path="scripts/run.py"),
        good=Example(text='url = "http://127.0.0.1:8000/v1"\n', path="scripts/run.py"),
    ),
)


def check_links(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield the URLs of a file with a deceptive destination."""
    for match, url in file.urls:
        line = file.line_of(match)
        is_code = file.context_of(line) == "code" or file.kind == "data"
        if message := _describe_deception(url):
            yield file.finding("deceptive-link", "high", line, message)
        elif url.kind in {"address", "shortener"}:
            kind = "a bare IP address" if url.kind == "address" else "a short link"
            severity: Severity = "medium" if is_code and file.is_script else "low"
            yield file.finding("unnamed-host", severity, line, f"{excerpt(url.text)} is {kind}")
    targets = {key.lower(): target for key, target in REFERENCE.findall(file.folded)} if "]:" in file.folded else {}
    for match in file.search(("](", "][", "<a "), MARKDOWN_LINK):
        text, address = (
            match[1] or match[3] or match[6],
            match[2] or match[5] or targets.get((match[4] or "").lower(), ""),
        )
        shown, target = SHOWN_HOST.match(text), URL.match(address)
        if shown is not None and target is not None:
            host, real = shown[1].lower(), read_url(target).host
            if not host.endswith(FILE_ENDINGS) and not are_related(host, real):
                message = f"the text shows {excerpt(host)}, the link leads to {excerpt(real)}"
                yield file.finding("deceptive-link", "medium", file.line_of(match), message)
    for match in file.search(("curl", "wget"), BARE_ADDRESS) if file.is_script else ():
        yield file.finding("unnamed-host", "medium", file.line_of(match), f"{excerpt(match[1])} is a bare IP address")
    for match in file.search(("data:text/html", "javascript:", "vbscript:"), DATA_URL):
        severity = "medium" if file.discusses(match) else "high"
        code = match[0].partition("(")[2] or match[0]
        message = f"the link runs code: {excerpt(code)}"
        yield file.finding("deceptive-link", severity, file.line_of(match), message)


def _describe_deception(url: Url) -> str:
    if url.kind == "lookalike":
        latin = url.host.translate(LOOKALIKES)
        if "xn--" in url.host:
            return f"{excerpt(url.host)} is a name in other letters"
        return f"`{latin}` is spelled with look-alike letters"
    if url.host.startswith(KNOWN_HOSTS) and url.kind != "local":
        return f"{excerpt(url.host)} only begins like a known host"
    name, _, password = url.user.partition(":")
    if "." in name and not password and "$" not in name and "{" not in name:
        return f"{excerpt(url.text)} leads to {excerpt(url.host)}, not to {excerpt(name)}"
    return ""


def are_related(host: str, other: str) -> bool:
    """Return whether two hosts share a domain, or a name as `acme.example` and `docs.acme.dev` do."""
    first, second = (set(name.split(".")[:-1]) - {"www", "com", "co", "org", "docs", "api"} for name in (host, other))
    return bool(first & second) or host.rpartition(".")[0] in other or other.rpartition(".")[0] in host
