"""Runs of letters and digits: encoded commands, keys and tokens. One pass over the bytes finds them all."""

import zlib
from binascii import a2b_base64
from collections.abc import Iterator

from skillpm.audit.checks.source_file import SourceFile, excerpt
from skillpm.audit.model import AuditFinding, Severity, compiled
from skillpm.audit.rules.vocabulary import COMMAND, ENCODED_ADDRESS, ESCAPES, PLACEHOLDER, PRIVATE_KEY, SECRETS

IS_RUN = bytes(byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-" for byte in range(256))
RUN = b"\1" * 20
MAX_DECODED = 65_536
MAX_LAYERS = 4
# A run that is decoded has so many letters; a command of ten characters has them.
MIN_ENCODED = 16
PRINTABLE = bytes(range(32, 127)) + b"\t\n\r"
COMPRESSED = (b"\x1f\x8b", b"x\x9c", b"x\xda", b"x\x01")
# The beginning of a program in base64.
PROGRAMS = (b"f0VMR", b"TVqQAA", b"TVpQAA", b"yv66v", b"z/rt/g")
# Characters that the random part of a secret has at least; `xxxx` and words have fewer.
MIN_DISTINCT = 11


def check_runs(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield the secrets and the encoded commands of a file."""
    data = file.raw
    mask = data.translate(IS_RUN)
    at = mask.find(RUN)
    while at >= 0:
        end = mask.find(b"\0", at)
        end = len(data) if end < 0 else end
        secret = compiled(SECRETS).match(data, at)
        if secret is not None:
            random = secret[secret.lastindex or 0]
            if len(set(random)) >= MIN_DISTINCT and not compiled(PLACEHOLDER).search(random):
                message = f"a key or token, which begins with {excerpt(data[at : at + 8].decode())}"
                yield file.finding("secret", "medium", file.raw_line_of(at), message)
        elif file.kind != "bulk":
            if data.startswith(PROGRAMS, at):
                message = f"a program in base64: {excerpt(data[at : at + 40].decode())}"
                yield file.finding("native-program", "medium", file.raw_line_of(at), message)
            yield from _report(file, at, decode(data[at:end]))
        at = mask.find(RUN, end)
    at = data.find(b"PRIVATE KEY-----")
    if at >= 0 and compiled(PRIVATE_KEY).match(data, at + 11):
        yield file.finding("secret", "medium", file.raw_line_of(at), "a private key")
    if file.kind != "bulk" and (b"\\x" in data or b"\\u00" in data):
        for match in compiled(ESCAPES).finditer(data.lower()):
            codes = match[0].replace(b"\\", b"").replace(b"u00", b"").replace(b"x", b"")
            yield from _report(file, match.start(), bytes.fromhex(codes.decode()))


def _report(file: SourceFile, at: int, data: bytes) -> Iterator[AuditFinding]:
    for text in unwrap(data):
        is_command = compiled(COMMAND).search(text) is not None
        if is_command or compiled(ENCODED_ADDRESS).fullmatch(text):
            severity: Severity = "high" if is_command and not file.is_about_attacks else "medium"
            message = f"this text decodes to {excerpt(text.decode('utf-8', 'replace'), 120)}"
            yield file.finding("encoded-command", severity, file.raw_line_of(at), message)
            return


def unwrap(data: bytes) -> Iterator[bytes]:
    """Yield the text in data, and the texts that are encoded in it, a few layers deep."""
    for _ in range(MAX_LAYERS):
        data = _decompress(data)
        if data[1:2] == b"\0":
            data = data.replace(b"\0", b"")  # UTF-16, as PowerShell encodes commands
        if len(data) < 9 or len(data[:200].translate(None, PRINTABLE)) > len(data[:200]) // 10:  # noqa: PLR2004
            return
        yield data
        words = (word for word in data[:MAX_DECODED].split() if len(word) >= MIN_ENCODED)
        data = max(map(decode, words), key=len, default=b"")


def decode(run: bytes) -> bytes:
    """Return what a run encodes in hexadecimal or base64; empty if that is not text."""
    try:
        if not run.strip(b"0123456789abcdefABCDEF"):
            return bytes.fromhex(run[: min(len(run), 2 * MAX_DECODED) & ~1].decode())
        head = a2b_base64(run[:16].replace(b"-", b"+").replace(b"_", b"/"))
        if not head.startswith(COMPRESSED) and len(head.replace(b"\0", b"").translate(None, PRINTABLE)) > 1:
            return b""
        run = run[: MAX_DECODED * 4 // 3 & ~3].rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        return a2b_base64(run[: len(run) - (len(run) % 4 == 1)] + b"=" * (-len(run) % 4 % 3))
    except ValueError:
        return b""


def _decompress(data: bytes) -> bytes:
    if not data.startswith(COMPRESSED):
        return data
    try:
        return zlib.decompressobj(47).decompress(data, MAX_DECODED)  # gzip or zlib, as its header says
    except zlib.error:
        return data
