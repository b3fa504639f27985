"""Catalogs as search reads them: for whatever a server sends."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpm.core.limits import Limits
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError, NewerDocument
from skillpm.formats.searched_catalog import CatalogEntry, SearchedCatalog, read_searched_catalog

SCHEMA = "urn:skillpm:schema:index:1"
SITE = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
DIGEST = "sha256:" + "0" * 64
ONE = {"name": "pdf", "description": "Reads.", "category": "work", "tags": ["a", "b"], "latest": "1.0.0"}


def catalogue(*entries: Any, **more: Any) -> bytes:
    return json.dumps({"$schema": SCHEMA, "name": "acme", "skills": entries, **more}, ensure_ascii=False).encode()


def read(body: bytes, *, is_ours: bool = True) -> SearchedCatalog:
    return read_searched_catalog(body, "index.json", is_skillpm_index=is_ours)


def test_an_entry_has_what_a_search_needs() -> None:
    assert read(catalogue({**ONE, "unknown": {"deep": [1]}})) == SearchedCatalog(
        entries=(
            CatalogEntry(
                name=SkillName("pdf"), description="Reads.", category="work", tags=("a", "b"), version="1.0.0"
            ),
        ),
        skipped_count=0,
        problems=(),
    )


@given(st.lists(st.text(max_size=40), max_size=8), st.sampled_from([None, 1, "\t"]))
def test_any_text_and_layout_is_read(texts: list[str], indent: Any) -> None:
    entries = [{**ONE, "name": f"s{number}", "description": output} for number, output in enumerate(texts)]
    body = json.dumps({"skills": entries, "name": "x", "$schema": SCHEMA}, indent=indent).encode()

    whole = [" ".join(output.split()).encode("utf-8", "replace").decode() for output in texts]
    assert [it.description for it in read(body).entries] == whole


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
    found = read(catalogue(entry, {**ONE, "name": "good"}))

    assert [it.name for it in found.entries] == ["good"]
    assert found.problems == (f"index.json: {why}; skipped this entry",)


def test_duplicate_entries_are_all_skipped() -> None:
    found = read(catalogue(ONE, {**ONE, "description": "Other."}, {**ONE, "name": "good"}))

    assert [it.name for it in found.entries] == ["good"]
    assert found.problems == ("index.json: skills.1: duplicate skill `pdf`; skipped all of its entries",)


def test_long_texts_are_cut_and_problems_are_counted() -> None:
    big = {**ONE, "description": "word " * 2000, "category": "c" * 200, "tags": ["t" * 200] * 100}
    found = read(catalogue(big, *[None] * 50))

    entry = found.entries[0]
    assert len(entry.description) <= 1024
    assert (len(entry.category), len(entry.tags), len(entry.tags[0])) == (64, 32, 64)
    assert (len(found.problems), found.skipped_count) == (10, 50)


def test_sites_of_both_versions() -> None:
    new = {"name": "a", "type": "archive", "description": "A.", "url": "/a.tgz", "digest": DIGEST}
    odd = {**new, "name": "b", "type": "wasm"}
    found = read(json.dumps({"$schema": SITE, "skills": [new, odd]}).encode(), is_ours=False)
    assert found.entries == (CatalogEntry(name=SkillName("a"), description="A."),)
    assert len(found.problems) == 1

    old = {"name": "c", "description": "C.", "files": ["SKILL.md"]}
    assert read(json.dumps({"skills": [old]}).encode(), is_ours=False).entries == (
        CatalogEntry(name=SkillName("c"), description="C."),
    )
    with pytest.raises(DocumentError, match="unsupported index format"):
        read(json.dumps({"$schema": "urn:x", "skills": [old]}).encode(), is_ours=False)


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"[]", b"{", b"{}", b'{"skills": []}', b'{"$schema": "urn:skillpm:schema:index:1"}', b"<html>",
        b"\xff\xfe", b"null", b'"skills"', b'{"skills" []}', b'{"skills": {}}', b'{"skills": [1 2]}', b"{1: 2}",
        b'{"a": 1 "b": 2}', b'{"a": 1,,}', catalogue(ONE) + b"x", catalogue(ONE)[:-2], catalogue(ONE)[:40],
        b'{"a":' * 100_000, b'{"skills": ' + b"[" * 400_000, b'{"skills": [' + b"[" * 400_000,
        b'{"n": ' + b"1" * 5_000 + b"}", b"\xef\xbb\xbf" + catalogue(ONE), catalogue(*[None] * 1_001),
    ],
    ids=range(26),
)  # fmt: skip
def test_an_invalid_catalog_is_rejected(body: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        read(body)

    assert caught.value.where.startswith("index.json")


def test_a_newer_format_is_reported_as_such() -> None:
    with pytest.raises(NewerDocument):
        read(catalogue(ONE).replace(b"index:1", b"index:2"))


def test_unknown_keys_are_ignored() -> None:
    wide = catalogue(ONE, **{f"x{number}": [number] for number in range(900)})

    assert len(read(wide.replace(b"{", b"{" + b" \n" * 700_000, 1)).entries) == 1


@pytest.mark.parametrize(
    "piece", ["[],", "{},", '{"":0},', '{"name":"a","latest":"1"},', '"a":1,', '"\u4e2d\u6587",', "1e5,", " ", "["]
)
def test_a_malicious_large_catalog_takes_little_memory(piece: str) -> None:
    """Parsed without a limit, each byte of such JSON takes up to thirty bytes of memory: 600 MB for these 20 MB."""
    body = ('{"skills":[' + piece * (Limits().catalog // len(piece.encode())) + "null]}").encode()

    tracemalloc.start()
    with pytest.raises(DocumentError):
        read(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150_000_000
