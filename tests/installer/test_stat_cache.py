"""A stat cache that is not what was written vouches for nothing, and is in nobody's way."""

from pathlib import Path

import pytest

from skillpm.installer.stat_cache import Scan, read_scan, write_scan

STAMPS = {"": {"skills.json": "9 1 1 1"}, "pdf": {"SKILL.md": "1 2 3 4"}}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "scan.json"
    write_scan(str(path), STAMPS)

    assert read_scan(str(path)).stamps == STAMPS


@pytest.mark.parametrize(
    "text",
    [
        '{"version":1,"at":1795349e99999,"stamps":{}}',
        '{"version":1,"at":"1795349","stamps":{}}',
        '{"version":1,"at":null,"stamps":{}}',
        '{"version":1,"at":1,"stamps":[]}',
        '{"version":1,"at":1,"stamps":{"pdf":"1 2 3 4"}}',
        '{"version":1,"at":1,"stamps":{"pdf":["SKILL.md"]}}',
        '{"version":2,"at":1,"stamps":{}}',
        '{"version":1,"at":1}',
        "[1]",
        "7",
        "[" * 100_000,
        "\x00",
        "",
    ],
    ids=lambda text: str(text)[:40],
)
def test_anything_else_is_no_stat_cache(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scan.json"
    path.write_text(text)

    assert read_scan(str(path)) == Scan()
