"""The digest of a skill: what is trusted, whatever way the bytes came (docs/formats.md, "The digest of a skill")."""

import re
from collections.abc import Iterable
from typing import NewType

from skillpm.errors import DocumentError

Digest = NewType("Digest", str)
SHA256_PATTERN = re.compile(r"[0-9a-f]{64}", re.ASCII)
DIGEST_PATTERN = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def compute_digest(files: Iterable[tuple[str, str]]) -> Digest:
    """Give `sha256:…` over (path, SHA-256 in hex) pairs, in whatever order they come."""
    from hashlib import sha256  # noqa: PLC0415  (2 ms that a command which hashes nothing need not pay)

    lines = (_encode(f"{content}  {path}\n") for path, content in sorted(files, key=_path_bytes))
    return Digest("sha256:" + sha256(b"".join(lines)).hexdigest())


def content_hash(data: bytes) -> str:
    """Give the SHA-256 of one file in hex."""
    from hashlib import sha256  # noqa: PLC0415

    return sha256(data).hexdigest()


def is_content_hash(value: object) -> bool:
    """Tell whether a value is the SHA-256 of something in hex, as documents write it."""
    return isinstance(value, str) and SHA256_PATTERN.fullmatch(value) is not None


def parse_digest(text: object, *, where: str) -> Digest:
    """Check a digest that a document names: exactly `sha256:` and 64 lower-case hex digits, never "no check"."""
    if isinstance(text, str) and DIGEST_PATTERN.fullmatch(text):
        return Digest(text)
    raise DocumentError(f"expected sha256: and 64 hex digits, got {text!r}"[:160], where=where)


def shorten_digest(digest: str) -> str:
    """Give a digest as people read it: `sha256:1a2b3c4d5e6f…`."""
    return digest[:19] + "…"


def shorten_distinct_digests(one: str, other: str) -> tuple[str, str]:
    """Give two different digests short, but long enough to be seen to differ."""
    length = next((at + 1 for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    length = max(length, len(shorten_digest(one)) - 1)
    return (one[:length] + "…", other[:length] + "…") if length < len(one) else (one, other)


def _path_bytes(pair: tuple[str, str]) -> bytes:
    return _encode(pair[0])


def _encode(text: str) -> bytes:
    # A name on disk may be no UTF-8 (Python then has surrogates in it): no such skill is published, but edits are.
    return text.encode(errors="surrogatepass")
