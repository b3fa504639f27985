"""The streaming parser of catalogs: for whatever a server sends, in chunks of any size."""

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpm.core.names import SkillName
from skillpm.errors import DocumentError, NewerDocument
from skillpm.formats.catalog_stream import MAX_ENTRY_SIZE, CatalogEntry, CatalogStream

SCHEMA = "urn:skillpm:schema:index:1"
SITE = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
DIGEST = "sha256:" + "0" * 64
ONE = {"name": "pdf", "description": "Reads.", "category": "work", "tags": ["a", "b"], "latest": "1.0.0"}


def catalogue(*entries: Any, **more: Any) -> bytes:
    return json.dumps({"$schema": SCHEMA, "name": "acme", "skills": entries, **more}, ensure_ascii=False).encode()


def read(body: bytes, *, size: int = 1 << 16, is_ours: bool = True) -> tuple[list[CatalogEntry], CatalogStream]:
    entries = CatalogStream(
        (body[at : at + size] for at in range(0, len(body), size)), "index.json", is_skillpm_index=is_ours
    )
    return list(entries), entries


def test_an_entry_has_what_a_search_needs() -> None:
    found, entries = read(catalogue({**ONE, "unknown": {"deep": [1]}}))

    assert found == [
        CatalogEntry(name=SkillName("pdf"), description="Reads.", category="work", tags=("a", "b"), version="1.0.0")
    ]
    assert (entries.name, entries.problems, entries.skipped_count, entries.duplicates) == ("acme", [], 0, set())


@given(
    st.lists(st.text(max_size=40), max_size=8),
    st.integers(1, 50),
    st.sampled_from([None, 1, "\t"]),
)
def test_chunk_boundaries_do_not_matter(texts: list[str], size: int, indent: Any) -> None:
    entries = [{**ONE, "name": f"s{number}", "description": said} for number, said in enumerate(texts)]
    body = json.dumps({"skills": entries, "name": "x", "$schema": SCHEMA}, indent=indent).encode()

    found, _ = read(body, size=size)

    whole = [" ".join(said.split()).encode("utf-8", "replace").decode() for said in texts]
    assert [it.description for it in found] == whole


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({**ONE, "name": "../pdf"}, "skills.0.name: invalid skill name `../pdf`"),
        ({**ONE, "name": "PDF"}, "skills.0.name: invalid skill name `PDF`"),
        ({**ONE, "latest": "$(x)"}, 'skills.0.latest: expected a version like 1.2.0, got "$(x)"'),
        ({**ONE, "description": 3}, "skills.0.description: expected a string, got 3"),
        ({**ONE, "tags": "none"}, 'skills.0.tags: expected an array, got "none"'),
        ({"name": "pdf"}, "skills.0: `latest` is missing"),
        ("pdf", 'skills.0: expected an object, got "pdf"'),
        (None, "skills.0: expected an object, got null"),
    ],
)
def test_an_invalid_entry_is_skipped_and_reported(entry: Any, why: str) -> None:
    found, entries = read(catalogue(entry, {**ONE, "name": "good"}))

    assert [it.name for it in found] == ["good"]
    assert entries.problems == [f"index.json: {why}; skipped this entry"]


def test_duplicate_entries_are_all_skipped() -> None:
    found, entries = read(catalogue(ONE, {**ONE, "description": "Other."}))

    assert {it.name for it in found} == entries.duplicates == {"pdf"}
    assert entries.problems == ["index.json: skills.1: duplicate skill `pdf`; skipped all of its entries"]


def test_long_texts_are_cut_and_problems_are_counted() -> None:
    big = {**ONE, "description": "word " * 2000, "category": "c" * 200, "tags": ["t" * 200] * 100}
    found, entries = read(catalogue(big, *[None] * 50))

    assert len(found[0].description) <= 1024
    assert (len(found[0].category), len(found[0].tags), len(found[0].tags[0])) == (64, 32, 64)
    assert (len(entries.problems), entries.skipped_count) == (10, 50)


def test_sites_of_both_versions() -> None:
    new = {"name": "a", "type": "archive", "description": "A.", "url": "/a.tgz", "digest": DIGEST}
    odd = {**new, "name": "b", "type": "wasm"}
    found, entries = read(json.dumps({"$schema": SITE, "skills": [new, odd]}).encode(), is_ours=False)
    assert found == [CatalogEntry(name=SkillName("a"), description="A.")]
    assert len(entries.problems) == 1

    old = {"name": "c", "description": "C.", "files": ["SKILL.md"]}
    assert read(json.dumps({"skills": [old]}).encode(), is_ours=False)[0] == [
        CatalogEntry(name=SkillName("c"), description="C.")
    ]
    with pytest.raises(DocumentError, match="unsupported index format"):
        read(json.dumps({"$schema": "urn:x", "skills": [old]}).encode(), is_ours=False)


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"[]", b"{", b"{}", b'{"skills": []}', b'{"$schema": "urn:skillpm:schema:index:1"}', b"<html>",
        b"\xff\xfe", b"null", b'"skills"', b'{"skills" []}', b'{"skills": {}}', b'{"skills": [1 2]}', b"{1: 2}",
        b'{"a": 1 "b": 2}', b'{"a": 1,,}', catalogue(ONE) + b"x", catalogue(ONE)[:-2], catalogue(ONE)[:40],
        b'{"a":' * 100_000, b'{"skills": ' + b"[" * 400_000, b'{"skills": [' + b"[" * 400_000,
        b'{"skills": [' + b'"' + b"x" * 2 * MAX_ENTRY_SIZE + b'"]}', b'{"n": ' + b"1" * 5_000 + b"}",
        catalogue(ONE, x="y" * 2 * MAX_ENTRY_SIZE), b"\xef\xbb\xbf" + catalogue(ONE),
    ],
    ids=range(27),
)  # fmt: skip
@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_an_invalid_catalog_is_rejected(body: bytes, size: int) -> None:
    with pytest.raises(DocumentError) as caught:
        read(body, size=size)

    assert caught.value.where.startswith("index.json")


def test_a_newer_format_is_reported_as_such() -> None:
    with pytest.raises(NewerDocument):
        read(catalogue(ONE).replace(b"index:1", b"index:2"))


def test_endless_white_space_and_unknown_keys_are_skipped() -> None:
    wide = catalogue(ONE, **{f"x{number}": [number] for number in range(900)})

    assert len(read(wide.replace(b"{", b"{" + b" \n" * 700_000, 1))[0]) == 1


@pytest.mark.parametrize(
    "piece", [b"[],", b"{},", b'{"name":"a","latest":"1"},', b'"a":1,', b'"', b" ", b"[", b'{"":'], ids=ascii
)
@pytest.mark.parametrize("head", [b'{"skills":[', b'{"x":[', b"{"])
def test_a_malicious_large_catalog_takes_little_memory(piece: bytes, head: bytes) -> None:
    """Parsed as a whole, each byte of such JSON takes up to sixty bytes of memory: 600 MB for these 10 MB."""
    chunk = piece * (60_000 // len(piece))

    def pieces() -> Iterator[bytes]:
        yield head
        for _ in range(160):
            yield chunk

    tracemalloc.start()
    with pytest.raises(DocumentError):
        for _ in CatalogStream(pieces(), "index.json", is_skillpm_index=True):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000
