"""Cached databases of catalogs: every byte is checked, and damaged files are ignored."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillpm.core.names import SkillName
from skillpm.fetchers.http.document_cache import Validators
from skillpm.formats.searched_catalog import CatalogEntry
from skillpm.indexes.search.database import build_database
from skillpm.indexes.search.database_cache import CacheHeader, DatabaseCache

KEY = "https://skills.acme.example/"
HEAD = CacheHeader(address="index.json", validators=Validators(etag='"one"'), fetched_at=5.0)


@pytest.fixture
def kept(tmp_path: Path) -> DatabaseCache:
    kept = DatabaseCache(str(tmp_path / "a % # ? folder"))
    keep(kept, "tea")
    return kept


def keep(kept: DatabaseCache, name: str, key: str = KEY) -> None:
    kept.replace_database(
        key, HEAD, lambda path: build_database(path, [CatalogEntry(name=SkillName(name), description="")])
    ).close()


def has(kept: DatabaseCache, name: str, key: str = KEY) -> bool | None:
    """Return whether a skill is in the database of an index; None if there is no valid database."""
    head = kept.read_header(key)
    found = None if head is None else kept.open(key, head)
    if found is None:
        return None
    try:
        return found.has(name)
    finally:
        found.close()


def files(kept: DatabaseCache, ending: str) -> list[Path]:
    return sorted(Path(kept.folder).glob(f"*{ending}"))


def test_a_stored_database_can_be_opened(kept: DatabaseCache) -> None:
    assert has(kept, "tea") is True
    assert has(kept, "coffee") is False
    assert has(kept, "tea", "https://other.example/") is None
    head = kept.read_header(KEY)
    assert head is not None
    assert (head.validators, head.fetched_at, head.skills) == (HEAD.validators, 5.0, 1)
    assert {path.stat().st_mode & 0o777 for path in Path(kept.folder).iterdir()} == {0o600}


def test_a_new_database_replaces_the_old_one(kept: DatabaseCache) -> None:
    reader = kept.open(KEY, kept.read_header(KEY) or HEAD)
    keep(kept, "coffee", "https://other.example/")
    keep(kept, "coffee")

    assert has(kept, "tea") is False
    assert len(files(kept, ".sqlite")) == 2
    assert reader is not None
    assert reader.has("tea")  # an open database survives its replacement
    reader.close()


def test_a_failed_build_keeps_the_old_database(kept: DatabaseCache) -> None:
    def fail(path: str) -> None:
        Path(path).write_text("half")
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011  (our own)
        kept.replace_database(KEY, HEAD, fail)  # type: ignore[arg-type]

    assert has(kept, "tea") is True
    assert files(kept, ".tmp") == []


def test_a_database_with_a_changed_byte_is_ignored(kept: DatabaseCache) -> None:
    (file,) = files(kept, ".sqlite")
    data = file.read_bytes()
    for at in range(0, len(data), 997):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert has(kept, "tea") is None, at
    file.write_bytes(data)
    assert has(kept, "tea") is True


def replace_with(kept: DatabaseCache, data: bytes) -> None:
    """Replace the database by another file, and its checksum in the header."""
    (head,), digest = files(kept, ".json"), hashlib.sha256(data).hexdigest()
    head.with_name(f"{head.stem}-{digest[:16]}.sqlite").write_bytes(data)
    head.write_text(json.dumps({**json.loads(head.read_text()), "database": digest}))


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: files(kept, ".sqlite")[0].write_bytes(b""),
        lambda kept: files(kept, ".sqlite")[0].unlink(),
        lambda kept: os.truncate(files(kept, ".sqlite")[0], 4096),
        lambda kept: replace_with(kept, b""),
        lambda kept: replace_with(kept, b"SQLite format 3\x00" + b"x" * 5000),
        lambda kept: replace_with(kept, b"no database"),
    ],
)
def test_a_damaged_database_is_ignored(kept: DatabaseCache, damage: Callable[[DatabaseCache], None]) -> None:
    damage(kept)

    assert has(kept, "tea") is None


@pytest.mark.parametrize("ending", [".sqlite", ".json"])
def test_a_link_or_a_pipe_is_ignored(kept: DatabaseCache, ending: str) -> None:
    (file,) = files(kept, ending)
    file.rename(file.with_suffix(".real"))
    file.symlink_to(file.with_suffix(".real"))
    assert has(kept, "tea") is None

    file.unlink()
    os.mkfifo(file)
    assert has(kept, "tea") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"format": 1}',
        '{"format": 2}',
        "[" * 100_000,
        "\udcff",
        '{"heard": "x"}',
        "x" * 99_999,
    ],
)
def test_a_damaged_header_is_ignored(kept: DatabaseCache, text: str) -> None:
    (file,) = files(kept, ".json")
    whole = json.loads(file.read_text())
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert kept.read_header(KEY) is None
    for key in whole:
        for value in (None, [1], {"x": 1}):
            file.write_text(json.dumps({**whole, key: value}))
            assert kept.read_header(KEY) is None, (key, value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("ending", [".sqlite", ".json"])
def test_a_file_of_another_user_is_ignored(kept: DatabaseCache, ending: str) -> None:
    (file,) = files(kept, ending)
    assert has(kept, "tea") is True

    os.chown(file, 12345, 12345)

    assert has(kept, "tea") is None
