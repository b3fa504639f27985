"""The digest of a skill, compared with: printf '%s  %s\\n' HASH PATH … | sha256sum."""

import itertools

import pytest

from skillpm.core.digest import Digest, compute_digest, content_hash, parse_digest, shorten_digest
from skillpm.errors import DocumentError

HELLO = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
SHEBANG = "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf"
FILES = [("SKILL.md", HELLO), ("a-b", NOTHING), ("a/b", SHEBANG), ("é", NOTHING)]
DIGEST = Digest("sha256:1256c9a4f57018f1a70a9bc079ee1f903b8ddea1d8da13c2fa55019217864ab0")


@pytest.mark.parametrize(
    ("data", "content"),
    [(b"hello\n", HELLO), (b"", NOTHING), (b"#!/bin/sh\n", SHEBANG)],
    ids=["text", "empty", "script"],
)
def test_a_content_hash_is_that_of_the_bytes(data: bytes, content: str) -> None:
    assert content_hash(data) == content


def test_the_digest_equals_the_one_computed_with_sha256sum_in_any_order() -> None:
    assert {compute_digest(files) for files in itertools.permutations(FILES)} == {DIGEST}


@pytest.mark.parametrize(
    "files",
    [
        FILES[:-1],
        [*FILES, ("z", NOTHING)],
        [*FILES[:-1], ("e", NOTHING)],
        [*FILES[:-1], ("é", HELLO)],
        [("SKILL.md", NOTHING), ("a-b", HELLO), *FILES[2:]],
    ],
    ids=["file gone", "file more", "file renamed", "file changed", "contents exchanged"],
)
def test_any_change_changes_the_digest(files: list[tuple[str, str]]) -> None:
    assert compute_digest(files) != DIGEST


def test_a_valid_digest_is_returned_unchanged() -> None:
    assert parse_digest(DIGEST, where="skills.lock") == DIGEST


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "expected sha256: and 64 hex digits, got None"),
        ("", "expected sha256: and 64 hex digits, got ''"),
        (5, "expected sha256: and 64 hex digits, got 5"),
        (["sha256:"], "expected sha256: and 64 hex digits, got ['sha256:']"),
        (HELLO, f"expected sha256: and 64 hex digits, got '{HELLO}'"),
        ("sha256:abc", "expected sha256: and 64 hex digits, got 'sha256:abc'"),
        (f"sha256:{HELLO.upper()}", f"expected sha256: and 64 hex digits, got 'sha256:{HELLO.upper()}'"),
        (f"SHA256:{HELLO}", f"expected sha256: and 64 hex digits, got 'SHA256:{HELLO}'"),
        (f"sha256:{HELLO}\n", f"expected sha256: and 64 hex digits, got 'sha256:{HELLO}\\n'"),
        (f" sha256:{HELLO}", f"expected sha256: and 64 hex digits, got ' sha256:{HELLO}'"),
        (f"sha256:{HELLO}0", f"expected sha256: and 64 hex digits, got 'sha256:{HELLO}0'"),
        ("x" * 500, f"expected sha256: and 64 hex digits, got '{'x' * 119}"),
        (f"md5:{HELLO[:32]}", f"expected sha256: and 64 hex digits, got 'md5:{HELLO[:32]}'"),
        ("sha256:" + "\u0661" * 64, "expected sha256: and 64 hex digits, got 'sha256:" + "\u0661" * 64 + "'"),
    ],
)
def test_anything_else_is_an_error_and_never_disables_the_check(value: object, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_digest(value, where="skills.lock: skills.pdf.digest")
    assert (caught.value.message, caught.value.where) == (message, "skills.lock: skills.pdf.digest")


def test_a_short_digest_has_twelve_digits() -> None:
    assert shorten_digest(DIGEST) == "sha256:1256c9a4f570…"
