"""Scripts that read credentials and send data, alone or two of them together."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from skillpm.audit.checks.source_file import SourceFile, excerpt
from skillpm.audit.checks.web_hosts import HOSTILE, HostKind, find_urls, kind_of
from skillpm.audit.model import LOWER, AuditFinding, Pattern, Severity, compiled
from skillpm.audit.rules.credentials import READS_VARIABLE, SENDS, STORED, Credential
from skillpm.audit.rules.vocabulary import COMMON, INERT, MIN_LABEL, OPENS, PRINTS


class Facts(NamedTuple):
    """What a script, or a fence of a document, does that matters for the whole skill."""

    # With their lines, and whether the line opens them.
    reads: tuple[tuple[Credential, int, bool], ...] = ()
    # Line of the first request that sends something; 0 if there is none.
    sends: int = 0
    hosts: tuple[tuple[bytes, HostKind], ...] = ()
    # Those in the requests.
    receivers: tuple[tuple[bytes, int], ...] = ()
    # The name of a secret in the environment, and its line.
    variable: str = ""
    is_script: bool = False


def read_facts(file: SourceFile) -> Facts:
    """Return what a file reads and sends."""
    if file.kind not in {"script", "doc"}:
        return Facts()
    is_script = file.kind == "script"
    reads = []
    for credential in STORED:
        at = _first(file, credential.pattern)
        if at >= 0:
            line = file.low[file.line_start(at) : file.line_end(at)]
            reads.append((credential, file.line_of(at), compiled(OPENS).search(line) is not None))
    sends = _first(file, SENDS) if is_script else -1
    if sends < 0:
        return Facts(reads=tuple(reads), is_script=is_script)
    hosts = {(url[3], kind_of(url)): None for url in find_urls(file.low) if not file.is_comment(url.start())}
    receivers: dict[bytes, int] = {}
    for match in file.search(SENDS):
        for url in find_urls(file.low[match.start() : file.line_end(match.end(), 300)]):
            if kind_of(url) != "local":
                receivers.setdefault(url[3], file.line_of(match.start()))
    at = _first(file, READS_VARIABLE)
    variable = next((match[1].decode().upper() for match in file.search(READS_VARIABLE)), "") if at >= 0 else ""
    return Facts(tuple(reads), file.line_of(sends), tuple(hosts), tuple(receivers.items()), variable, is_script)


def _first(file: SourceFile, pattern: Pattern) -> int:
    """Return the first match of a pattern that is code and not printed; -1 without one."""
    if file.words.isdisjoint(pattern.words.encode().split()):
        return -1
    for match in file.search(pattern):
        start = match.start()
        line = file.low[file.line_start(start) : file.line_end(start)].lstrip()
        is_shown = line.startswith(PRINTS) and not compiled(OPENS).search(line)
        if not (file.kind == "script" and (file.is_comment(start) or is_shown)):
            return start
    return -1


def check_flows(facts: Sequence[tuple[SourceFile, Facts]]) -> Iterator[AuditFinding]:
    """Yield the credentials that are read, and where the same script or another one sends data to another service."""
    senders = [(file, found) for file, found in facts if found.sends]
    described: frozenset[bytes] = facts[0][0].words if senders and facts[0][0].is_skill_file else frozenset()
    for file, found in facts:
        for credential, line, is_opened in found.reads:
            if credential is not STORED[-1]:
                severity: Severity = "medium" if found.is_script and is_opened and not credential.hosts else "low"
                yield file.finding("credential-access", severity, line, f"names {credential.name}")
            if found.is_script:
                yield from _check_sent(file, found, credential, line, senders if is_opened else ())
        if found.variable:
            for host, line in found.receivers:
                labels = [label for label in host.split(b".")[:-1] if label not in COMMON]
                is_own = any(
                    len(label) >= MIN_LABEL and label.decode("utf-8", "replace") in found.variable.lower()
                    for label in labels
                )
                if not is_own and not any(described.issuperset(label.split(b"-")) for label in labels):
                    message = f"sends data to {_show(host)}, in a script that reads {excerpt(found.variable)}"
                    yield file.finding("undeclared-host", "medium", line, message)


def _check_sent(
    file: SourceFile, found: Facts, credential: Credential, line: int, senders: Sequence[tuple[SourceFile, Facts]]
) -> Iterator[AuditFinding]:
    """Yield a finding if what a script reads is sent to another service: by itself, or else by another script."""
    severity: Severity
    if found.sends:
        foreign = _find_foreign(found, credential)
        if not foreign and found.hosts:  # every address is one of the service
            return
        receiver = _show(foreign[0][0]) if foreign else "an address that is not in the file"
        severity = "high" if foreign else "medium"
        if credential.is_shared and not (foreign and foreign[0][1] in HOSTILE):
            severity = LOWER[severity]
        message = f"reads {credential.name}, and line {found.sends} sends data to {receiver}"
        yield file.finding("credential-exfiltration", severity, line, message)
        return
    for sender, others in senders:
        if foreign := _find_foreign(others, credential):
            is_many = len(found.reads) > 1 and not credential.is_shared
            message = f"reads {credential.name}; {sender.path}:{others.sends} sends data to {_show(foreign[0][0])}"
            yield file.finding("credential-exfiltration", "high" if is_many else "medium", line, message)
            return


def _find_foreign(found: Facts, credential: Credential) -> list[tuple[bytes, HostKind]]:
    """Return the hosts of other services than the credentials' own, those that hide the recipient first."""
    foreign = [
        (host, kind)
        for host, kind in found.hosts
        if kind != "local"
        and host not in INERT
        and not f".{host.decode('utf-8', 'replace')}".endswith(tuple(f".{each.decode()}" for each in credential.hosts))
    ]
    return sorted(foreign, key=lambda each: each[1] not in HOSTILE)


def _show(host: bytes) -> str:
    return excerpt(host.decode("utf-8", "replace"))
