"""The digest that identifies the content of a skill (docs/formats.md, "The digest of a skill")."""

import re
from collections.abc import Iterable
from io import BufferedReader
from typing import NewType

from skillpm.core.patterns import lazy_pattern
from skillpm.errors import DocumentError

Digest = NewType("Digest", str)
SHA256_PATTERN = lazy_pattern(r"[0-9a-f]{64}", re.ASCII)
DIGEST_PATTERN = lazy_pattern(r"sha256:[0-9a-f]{64}", re.ASCII)


def compute_digest(files: Iterable[tuple[str, str]]) -> Digest:
    """Return `sha256:…` over (path, SHA-256 in hex) pairs, which may come in any order."""
    from hashlib import sha256  # noqa: PLC0415  (2 ms that most commands save)

    lines = (_encode(f"{content}  {path}\n") for path, content in sorted(files, key=lambda file: _encode(file[0])))
    return Digest("sha256:" + sha256(b"".join(lines)).hexdigest())


def content_hash(data: bytes) -> str:
    """Return the SHA-256 of one file in hex."""
    from hashlib import sha256  # noqa: PLC0415

    return sha256(data).hexdigest()


def stream_hash(file: BufferedReader) -> str:
    """Return the SHA-256 of an open file in hex, without holding it in memory."""
    from hashlib import file_digest  # noqa: PLC0415

    return file_digest(file, "sha256").hexdigest()


def is_content_hash(value: object) -> bool:
    """Return whether a value is a SHA-256 in lower-case hex, as documents write it."""
    return isinstance(value, str) and SHA256_PATTERN.fullmatch(value) is not None


def is_digest(value: object) -> bool:
    """Return whether a value is a digest of a document: exactly `sha256:` and 64 lower-case hex digits."""
    return isinstance(value, str) and DIGEST_PATTERN.fullmatch(value) is not None


def parse_digest(text: object, *, where: str) -> Digest:
    """Return a digest. Raises `DocumentError`."""
    if is_digest(text):
        return Digest(str(text))
    raise DocumentError(f"expected sha256: and 64 hex digits, got {text!r}"[:160], where=where)


def shorten_digest(digest: str) -> str:
    """Return a digest abbreviated for messages: `sha256:1a2b3c4d5e6f…`."""
    return digest[:19] + "…"


def shorten_distinct_digests(one: str, other: str) -> tuple[str, str]:
    """Return two different digests abbreviated, but long enough to differ."""
    length = next((at + 1 for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    length = max(length, len(shorten_digest(one)) - 1)
    return (one[:length] + "…", other[:length] + "…") if length < len(one) else (one, other)


def _encode(text: str) -> bytes:
    # A file name on disk may be invalid UTF-8, which Python decodes to surrogates. Such a skill is never published, but
    # local edits are digested, too.
    return text.encode(errors="surrogatepass")
