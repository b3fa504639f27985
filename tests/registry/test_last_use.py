"""When a skill was last loaded is recorded in the cache, and nowhere else."""

import os
from pathlib import Path

import pytest

from skillpm.registry.last_use import read_last_uses, record_last_use


def test_the_last_use_is_the_time_of_a_file(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    assert read_last_uses(cache) == {}

    record_last_use(cache, "pdf")
    os.utime(tmp_path / "cache/used/pdf", (1_000, 1_000))
    record_last_use(cache, "docx")
    assert read_last_uses(cache)["pdf"] == 1_000

    record_last_use(cache, "pdf")
    assert read_last_uses(cache)["pdf"] >= read_last_uses(cache)["docx"]
    assert (tmp_path / "cache/CACHEDIR.TAG").exists()


@pytest.mark.parametrize("name", ["../../outside", "..", "a/b", "/etc/x", "", "Über"])
def test_a_name_that_could_be_a_path_is_not_recorded(tmp_path: Path, name: str) -> None:
    record_last_use(str(tmp_path / "deep/cache"), name)

    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_cache_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used/pdf").symlink_to(tmp_path / "victim")
    (tmp_path / "used/docx").symlink_to(tmp_path)
    before = os.stat(tmp_path).st_mtime_ns

    record_last_use(str(tmp_path), "pdf")
    record_last_use(str(tmp_path), "docx")

    assert not (tmp_path / "victim").exists()
    assert os.stat(tmp_path).st_mtime_ns == before


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")

    record_last_use(str(tmp_path / "cache"), "pdf")

    assert read_last_uses(str(tmp_path / "cache")) == {}
