"""Shell scripts that do in several commands, with a file between them, what the other rules look for in one."""

from collections.abc import Iterator

from skillpm.audit.checks.downloads import BY_HOST, judge_host
from skillpm.audit.finding import AuditFinding, Severity
from skillpm.audit.source_file import SourceFile, excerpt
from skillpm.core.patterns import lazy_pattern

# Files of a script that are followed.
MAX_FILES = 200
MAX_TOKENS = 200
WORDS = ("curl", "wget", "base64", "openssl", "xxd", ".ssh", ".aws", ".netrc", ".gnupg", "env")
SEPARATOR = lazy_pattern(r"&&|\|\||[;\n\v]")
TOKEN = lazy_pattern(r"[^\s\"'=@<>|()`]{1,300}")
LOADS = lazy_pattern(r"\b(?:curl|wget|aria2c)\s")
DECODES = lazy_pattern(r"\bbase64\s+-{1,2}[dD]|\bopenssl\s[^\n|]{0,80}\s-d\b|\bxxd\s+-\w{0,3}r|\bbase32\s+-{1,2}d")
SECRETS = lazy_pattern(
    r"(?:~|HOME\}?\"?|/root|/home/\w{1,40})/\.(?:ssh(?![-\w]|/(?:config|known_hosts|\w{1,60}\.pub))|aws/credentials\b"
    r"|netrc\b|git-credentials\b|gnupg\b|kube/config\b|npmrc\b|pypirc\b)|^\s*(?:env|printenv)\s*(?:>|\|)|/proc/self/environ"
)
REDIRECTED = lazy_pattern(r">{1,2}\s{0,9}[\"']?([^\s\"'&|;<>()]{1,200})")
OUTPUT = lazy_pattern(
    r"\s(?:-\w{0,8}[oO]|--output|--output-document)[= ]\s{0,9}[\"']?([^\s\"'&|;<>()-][^\s\"'&|;<>()]{0,200})"
)
REMOTE_NAME = lazy_pattern(r"\s-\w{0,8}O\b")
PACKS = lazy_pattern(r"^\s*(?:sudo\s+)?(?:(tar|zip)|cp|mv|install|ln|cat|gzip)\s")
RUNS = lazy_pattern(
    r"^\s*(?:(?:sudo|exec|nohup|command)\s+){0,2}(?:(?:ba|z|da)?sh|source|\.|python[\d.]{0,4}|node|perl|crontab)?\s*(?:-[\w-]{1,20}\s+){0,3}"
    r"[\"']?([^\s\"'|&;<>()]{1,200})"
)
INSTALLS = lazy_pattern(r"\b(?:pip3?|pipx|uv pip|npm|gem|dpkg|rpm|apt(?:-get)?)\s+(?:i|install|-i|-U\w{0,4})\s")
SENDS = lazy_pattern(r"\b(?:curl|wget|nc|ncat|scp|rsync)\s")
VERIFIES = lazy_pattern(r"(?i)sha(?:256|512|1)?sum|\bgpgv?\b|\bcosign\b|\bminisign\b|checksum")
URL_NAME = lazy_pattern(r"https?://[^\s\"'?#]{1,300}/([\w.+-]{1,100})")


def check_shell_files(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield where a shell script runs, installs or sends a file that it loaded, decoded or copied from credentials."""
    if file.kind != "shell" or not any(word in file.lower for word in WORDS):
        return
    is_verified = VERIFIES.search(file.commands) is not None
    kept: dict[str, dict[str, str]] = {}
    number = start = 0
    text = file.commands
    for end in (*(match.end() for match in SEPARATOR.finditer(text)), len(text)):
        command = text[start:end].rstrip("&|;\n\v")
        line = number + 1
        number += text.count("\n", start, end) + text.count("\v", start, end)
        start = end
        if not command.strip() or command.lstrip().startswith("#") or len(command) > MAX_TOKENS * 20:
            continue
        tokens = [token.removeprefix("./") for token in TOKEN.findall(command)[:MAX_TOKENS]]
        known: dict[str, str] = {}
        for token in tokens:
            known |= kept.get(token, {})
        if known:
            yield from _judge(file, line, command, known, kept, is_verified=is_verified)
        origins = known | _find_origins(command)
        targets = _find_targets(command, tokens) if origins and len(kept) < MAX_FILES else ()
        for target in (each for each in targets if any(map(str.isalnum, each))):
            kept.setdefault(target.removeprefix("./"), {}).update(origins)


def _find_origins(command: str) -> dict[str, str]:
    """Return where what a command writes comes from, each kind with the text that shows it."""
    found = {}
    if LOADS.search(command) and "://" in command:
        found["download"] = command.strip()
    if DECODES.search(command):
        found["decoded"] = command.strip()
    if match := SECRETS.search(command):
        found["secret"] = match[0].strip(" |>")
    return found


def _find_targets(command: str, tokens: list[str]) -> Iterator[str]:
    yield from REDIRECTED.findall(command)
    if LOADS.search(command):
        yield from OUTPUT.findall(command)
        if REMOTE_NAME.search(command):
            yield from URL_NAME.findall(command)
    if packs := PACKS.match(command):
        plain = [token for token in tokens[1:] if not token.startswith("-")]
        if packs[1] == "tar" and len(plain) > 1:
            yield plain[1] if "/" not in plain[0] and "f" in plain[0] else plain[0]
        elif packs[1] == "zip" and plain:
            yield plain[0]
        elif plain:
            yield plain[-1]
            if "bin/" in plain[-1]:
                yield plain[-1].rpartition("/")[2]


def _judge(
    file: SourceFile, line: int, command: str, known: dict[str, str], kept: dict[str, dict[str, str]], *,
    is_verified: bool,
) -> Iterator[AuditFinding]:  # fmt: skip
    run = RUNS.match(command)
    origins = kept.get(run[1].removeprefix("./"), {}) if run else {}
    severity: Severity
    if "decoded" in origins:
        message = f"runs what it first decodes: {excerpt(origins['decoded'])}"
        yield file.finding("decode-and-run", "high", line, message)
    elif "download" in origins and not is_verified:
        severity, reason = BY_HOST[judge_host(origins["download"])]
        yield file.finding("pipe-to-shell", severity, line, f"{excerpt(origins['download'])} runs {reason}")
    if "download" in known and INSTALLS.search(command) and not is_verified:
        message = f"installs a package from an address instead of an index: {excerpt(known['download'])}"
        yield file.finding("remote-package", "medium", line, message)
    if "secret" in known and SENDS.search(command):
        message = f"sends a copy of {excerpt(known['secret'])}: {excerpt(command.strip())}"
        yield file.finding("credential-exfiltration", "high", line, message)
