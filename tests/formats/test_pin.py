"""Pins round-trip; an invalid one is rejected with its key."""

from typing import Any

import pytest
from formats.document_strategies import EXAMPLES, live_links, stored_pins
from hypothesis import given

from skillpm.core.json_text.decoder import JsonNode
from skillpm.errors import DocumentError
from skillpm.kinds import read_pin
from skillpm.kinds.archive import UrlPin
from skillpm.kinds.base import Pin
from skillpm.kinds.bundled import BundledPin
from skillpm.kinds.git import GitPin
from skillpm.kinds.index import IndexPin
from skillpm.kinds.local import PathPin
from skillpm.kinds.package import PackagePin

URL = "https://github.com/acme/skills"
COMMIT, TREE, SHA256 = "9d2f1ae1" * 5, "0c3b5d77" * 5, "f00dfeed" * 8
GIT = GitPin(url=URL, commit=COMMIT, tree=TREE, path="skills/pdf", ref="refs/tags/v1.2")
ARCHIVE = "https://host.example/pdf-1.2.tar.gz"
INDEX = "https://skills.acme.example/"
GIT_VALUE = {"git": URL, "commit": COMMIT, "tree": TREE, "path": "skills/pdf", "ref": "refs/tags/v1.2"}
PINS: list[tuple[Pin, dict[str, Any], str]] = [
    (GIT, GIT_VALUE, f"git+{URL}@{COMMIT}#subdirectory=skills/pdf"),
    (
        GIT.replace(path=".", ref="", commit=COMMIT + "0" * 24),
        {"git": URL, "commit": COMMIT + "0" * 24, "tree": TREE, "path": "."},
        f"git+{URL}@{COMMIT}{'0' * 24}",
    ),
    (
        GIT.replace(ref="HEAD"),
        GIT_VALUE | {"ref": "HEAD"},
        f"git+{URL}@{COMMIT}#subdirectory=skills/pdf",
    ),
    (
        GIT.replace(links=(("bin/x", f"100755 {COMMIT}"), ("docs", f"040000 {TREE}"))),
        GIT_VALUE | {"links": {"bin/x": f"100755 {COMMIT}", "docs": f"040000 {TREE}"}},
        f"git+{URL}@{COMMIT}#subdirectory=skills/pdf",
    ),
    (PathPin(path="../house-style"), {"path": "../house-style"}, "../house-style"),
    (PathPin(path="~/x", link=True), {"path": "~/x", "link": True}, "link:~/x"),
    (BundledPin(name="pdf"), {"bundled": "pdf"}, "bundled:pdf"),
    (UrlPin(url=ARCHIVE, sha256=SHA256), {"url": ARCHIVE, "sha256": SHA256}, ARCHIVE),
    (
        IndexPin(index=INDEX, url=ARCHIVE, sha256=SHA256),
        {"index": INDEX, "url": ARCHIVE, "sha256": SHA256},
        ARCHIVE,
    ),
    (
        PackagePin(kind="env", package="fastapi", path="fastapi/.agents/skills/api", version="0.165.0"),
        {"env": "fastapi", "version": "0.165.0", "path": "fastapi/.agents/skills/api"},
        "env:fastapi@api",
    ),
    (PackagePin(kind="npm", package="@acme/ui", path="."), {"npm": "@acme/ui", "path": "."}, "npm:@acme/ui"),
]


def read(value: Any) -> Pin:
    return read_pin(JsonNode(value, "skills.lock", ("skills", "pdf", "source")))


@pytest.mark.parametrize(("pin", "value", "words"), PINS)
def test_a_pin_is_a_value_and_words(pin: Pin, value: Any, words: str) -> None:
    assert list(pin.to_json().items()) == list(value.items())
    assert read(value) == pin
    assert pin.describe() == words


@EXAMPLES
@given(stored_pins | live_links)
def test_written_documents_round_trip(pin: Pin) -> None:
    assert read(pin.to_json()) == pin


def without(key: str) -> dict[str, Any]:
    return {name: part for name, part in GIT_VALUE.items() if name != key}


ID = "a full id (40 or 64 hex digits)"
REF = "HEAD, refs/heads/… or refs/tags/…"
PART = "the path has an empty, `.` or `..` part"


@pytest.mark.parametrize(
    ("value", "message", "key"),
    [
        ("bundled:pdf", 'expected an object, got "bundled:pdf"', ""),
        (None, "expected an object, got null", ""),
        ({}, "expected a source: git, path, bundled, url, oci, env or npm, got an object", ""),
        ({"index": INDEX}, "expected a source: git, path, bundled, url, oci, env or npm, got an object", ""),
        (without("commit"), "`commit` is missing", ""),
        (without("tree"), "`tree` is missing", ""),
        (without("path"), "`path` is missing", ""),
        (GIT_VALUE | {"sha": "1"}, "unknown key `sha`; known keys: git, commit, tree, path, ref, files, links", ".sha"),
        (GIT_VALUE | {"git": None}, "expected a string, got null", ".git"),
        (GIT_VALUE | {"git": "ext::sh -c x"}, "unsafe git URL `ext::sh -c x`", ".git"),
        (GIT_VALUE | {"git": "--upload-pack=x"}, "unsafe git URL `--upload-pack=x`", ".git"),
        (GIT_VALUE | {"git": "ftp://h/x"}, "`ftp://` is not supported", ".git"),
        (GIT_VALUE | {"commit": "HEAD"}, f'expected {ID}, got "HEAD"', ".commit"),
        (GIT_VALUE | {"commit": COMMIT[:12]}, f'expected {ID}, got "{COMMIT[:12]}"', ".commit"),
        (GIT_VALUE | {"commit": COMMIT.upper()}, f'expected {ID}, got "{COMMIT.upper()}"', ".commit"),
        (GIT_VALUE | {"commit": COMMIT + "\n"}, f'expected {ID}, got "{COMMIT}\\n"', ".commit"),
        (GIT_VALUE | {"commit": f"--{COMMIT}"}, f'expected {ID}, got "--{COMMIT}"', ".commit"),
        (GIT_VALUE | {"tree": "../../x"}, f'expected {ID}, got "../../x"', ".tree"),
        (GIT_VALUE | {"tree": 5}, "expected a string, got 5", ".tree"),
        (GIT_VALUE | {"path": ""}, "the path is absolute or empty", ".path"),
        (GIT_VALUE | {"path": "../x"}, PART, ".path"),
        (GIT_VALUE | {"path": "a/./b"}, PART, ".path"),
        (GIT_VALUE | {"path": "/etc"}, "the path is absolute or empty", ".path"),
        (GIT_VALUE | {"path": "a/.git/hooks"}, "the path is a .git folder or file", ".path"),
        (GIT_VALUE | {"path": "a\nb"}, "the path has a control, hidden or undecodable character", ".path"),
        (GIT_VALUE | {"ref": ""}, f'expected {REF}, got ""', ".ref"),
        (GIT_VALUE | {"ref": "main"}, f'expected {REF}, got "main"', ".ref"),
        (GIT_VALUE | {"ref": "--exec=x"}, f'expected {REF}, got "--exec=x"', ".ref"),
        (GIT_VALUE | {"ref": "refs/heads/--x"}, f'expected {REF}, got "refs/heads/--x"', ".ref"),
        (GIT_VALUE | {"ref": "refs/heads/a..b"}, f'expected {REF}, got "refs/heads/a..b"', ".ref"),
        (GIT_VALUE | {"ref": "refs/pull/1/head"}, f'expected {REF}, got "refs/pull/1/head"', ".ref"),
        (GIT_VALUE | {"ref": None}, "expected a string, got null", ".ref"),
        ({"path": ""}, 'expected a path, got ""', ".path"),
        ({"path": "a\0b"}, 'expected a path, got "a\\u0000b"', ".path"),
        ({"path": "a\u202eb"}, 'expected a path, got "a\\u202eb"', ".path"),
        ({"path": "a", "link": 1}, "expected true or false, got 1", ".link"),
        ({"path": "a", "digest": "x"}, "unknown key `digest`; known keys: path, link", ".digest"),
        ({"bundled": True}, "expected a string, got true", ".bundled"),
        ({"bundled": "../pdf"}, "invalid skill name `../pdf`", ".bundled"),
        ({"bundled": "pdf\n"}, "invalid skill name `pdf\\n`", ".bundled"),
        ({"bundled": "pdf", "version": "1"}, "unknown key `version`; known keys: bundled", ".version"),
        ({"url": ARCHIVE}, "`sha256` is missing", ""),
        ({"url": ARCHIVE, "sha256": ""}, 'expected 64 lower-case hex digits, got ""', ".sha256"),
        ({"url": ARCHIVE, "sha256": None}, "expected 64 lower-case hex digits, got null", ".sha256"),
        ({"url": ARCHIVE, "sha256": SHA256[1:]}, f'expected 64 lower-case hex digits, got "{SHA256[1:59]}…', ".sha256"),
        ({"url": ARCHIVE, "sha256": "md5:abc"}, 'expected 64 lower-case hex digits, got "md5:abc"', ".sha256"),
        ({"url": "file:///etc/passwd", "sha256": SHA256}, "invalid web address `file:///etc/passwd`", ".url"),
        ({"url": "-x", "sha256": SHA256}, "invalid web address `-x`", ".url"),
        ({"url": ARCHIVE + "\n\0", "sha256": SHA256}, f"invalid web address `{ARCHIVE}\\n\\x00`", ".url"),
        ({"url": ARCHIVE, "sha256": SHA256, "index": ""}, "invalid web address ``", ".index"),
        ({"url": ARCHIVE, "sha256": SHA256, "index": "acme"}, "invalid web address `acme`", ".index"),
        ({"env": "../x", "path": "."}, 'expected the name of a package, got "../x"', ".env"),
        ({"npm": "@acme/../ui", "path": "."}, 'expected the name of a package, got "@acme/../ui"', ".npm"),
        ({"npm": ".pnpm", "path": "."}, 'expected the name of a package, got ".pnpm"', ".npm"),
        ({"env": "fastapi"}, "`path` is missing", ""),
        ({"env": "fastapi", "path": "../x"}, PART, ".path"),
        ({"env": "fastapi", "path": "/etc"}, "the path is absolute or empty", ".path"),
        ({"env": "a", "path": "x", "link": True}, "unknown key `link`; known keys: env, version, path", ".link"),
        ({"url": ARCHIVE, "sha256": SHA256, "size": 5}, "unknown key `size`; known keys: index, url, sha256", ".size"),
    ],
)
def test_an_invalid_pin_is_reported_with_its_key(value: Any, message: str, key: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(value)
    assert (caught.value.message, caught.value.where) == (message, f"skills.lock: skills.pdf.source{key}")


def test_credentials_in_a_pin_are_dropped() -> None:
    assert read(GIT_VALUE | {"git": "https://ann:secret@github.com/acme/skills"}) == GIT
    assert read({"url": "https://ann:secret@host.example/x.zip", "sha256": SHA256}) == UrlPin(
        url="https://host.example/x.zip", sha256=SHA256
    )
