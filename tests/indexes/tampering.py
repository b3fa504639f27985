"""Malicious changes to an index: one small change per case, in every kind of bytes."""

import copy
import gzip
import io
import json
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any

# tar's header, POSIX ustar: where each field is and how long.
FIELDS = {
    "name": (0, 100),
    "mode": (100, 8),
    "size": (124, 12),
    "type": (156, 1),
    "magic": (257, 6),
    "prefix": (345, 155),
}
# These do not change the content and its digest; a prefix is a folder that encloses all files.
HARMLESS = ("mode", "magic", "prefix")
GZIP = {"magic": 0, "method": 2, "flags": 3, "first byte": 10}
ODD: dict[str, Any] = {
    "missing": ...,
    "null": None,
    "a number": 7,
    "a list": [],
    "an object": {},
    "empty": "",
    "an escape": "\x1b[2J",
}
URLS = (
    "file:///etc/passwd",
    "ftp://127.0.0.1/x",
    "http://user:secret@127.0.0.1/x",
    "archives/../../x",
    "archives\\x",
    "archives/%2e%2e/x",
    "http://127.0.0.1:1/x",
    "http://[::1",
    "x" * 70_000,
)
KEYS = ("version", "url", "digest", "sha256", "size")


def flip_byte(data: bytes, at: int) -> bytes:
    """Return the same bytes with one changed."""
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :]


def archives(good: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield an archive with each field changed, cut and extended, or with members that no skill may have."""
    tar = gzip.decompress(good)
    for field, at in GZIP.items():
        yield f"gzip: {field}", flip_byte(good, at)
    for field, at in {"checksum": -8, "length": -4}.items():
        yield f"gzip: {field}", flip_byte(good, at)
    for field, (at, _) in FIELDS.items():
        yield f"tar: {field}", _gzip(flip_byte(tar, at))
        if field not in HARMLESS:
            yield f"tar: {field}, checksum fixed", _gzip(_with_checksum(flip_byte(tar, at)))
    yield "tar: checksum", _gzip(flip_byte(tar, 148))
    for kind in "123467":
        header = tar[:156] + kind.encode() + b"/etc/passwd".ljust(100, b"\0") + tar[257:]
        yield f"tar: a member of type {kind}", _gzip(_with_checksum(header))
    for path in (b"../evil", b"/evil", b"a\\b", b".git/config", b"\xff\xfe", b"a\x1b[31m"):
        yield f"tar: a member called {path!r}", _gzip(tar[:1024] + _member(path) + bytes(1024))
    yield "tar: a size of 8 GB", _gzip(_with_checksum(tar[:124] + b"77777777777\0" + tar[136:]))
    yield "tar: other content", _gzip(flip_byte(tar, 520))
    yield "tar: without its end", _gzip(tar[:1024])
    yield "tar: no member at all", _gzip(bytes(1024))
    for size in (0, 9, len(good) // 2, len(good) - 8, len(good) - 1):
        yield f"cut to {size} bytes", good[:size]
    yield "one byte more", good + b"x"
    yield "a page", b"<!DOCTYPE html><title>Sign in</title>"
    yield "a bomb", _bomb()


def versions(document: Any) -> Iterator[tuple[str, bytes]]:
    """Yield `skills/NAME.json` with invalid values of each key."""
    for key in KEYS:
        for how, value in ODD.items():
            if (key, how) != ("size", "a number"):  # only `index check` compares the size; clients verify the checksum
                yield f"{key} is {how}", _with(document, "versions", key, value)
    for url in URLS:
        yield f"url is {url}", _with(document, "versions", "url", url)
    for key, value in {"sha256": "0" * 64, "digest": "sha256:" + "0" * 64, "yanked": True}.items():
        yield f"another {key}", _with(document, "versions", key, value)
    yield "another name", json.dumps(document | {"name": "tdd"}).encode()
    yield "a newer format", json.dumps(document | {"$schema": "urn:skillpm:schema:skill-versions:2"}).encode()
    text = json.dumps(document).encode()
    yield from (
        ("cut in half", text[: len(text) // 2]),
        ("not UTF-8", text.replace(b"pdf", b"\xff", 1)),
        ("deep", b"[" * 9999),
    )


def entries(document: Any) -> Iterator[tuple[str, bytes]]:
    """Yield `.well-known/agent-skills/index.json` with invalid values of each key of an entry."""
    for key in ("name", "type", "url", "digest"):
        for how, value in ODD.items():
            yield f"{key} is {how}", _with(document, "skills", key, value)
    for url in URLS:
        yield f"url is {url}", _with(document, "skills", "url", url)
    for key, value in {"digest": "sha256:" + "0" * 64, "type": "skill-md", "name": "tdd"}.items():
        yield f"another {key}", _with(document, "skills", key, value)
    yield "another schema", json.dumps(document | {"$schema": "https://example.com/9"}).encode()


def _with(document: Any, rows: str, key: str, value: Any) -> bytes:
    changed = copy.deepcopy(document)
    if value is ...:
        del changed[rows][0][key]
    else:
        changed[rows][0][key] = value
    return json.dumps(changed).encode()


def _gzip(tar: bytes) -> bytes:
    return gzip.compress(tar, mtime=0)


def _with_checksum(tar: bytes) -> bytes:
    """Fix the checksum of the first header."""
    header = tar[:148] + b" " * 8 + tar[156:512]
    return tar[:148] + b"%06o\0 " % sum(header) + tar[156:]


def _member(path: bytes) -> bytes:
    header = tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT)
    return _with_checksum(path.ljust(100, b"\0") + header[100:])


def _bomb() -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    member = tarfile.TarInfo("SKILL.md")
    member.size = 1 << 29
    out = io.BytesIO()
    out.write(compressor.compress(member.tobuf()))
    for _ in range(512):
        out.write(compressor.compress(bytes(1 << 20)))
    out.write(compressor.flush())
    return out.getvalue()
