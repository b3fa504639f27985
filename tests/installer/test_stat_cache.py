"""The stat cache trusts only files that cannot have changed since; an unreadable cache trusts nothing."""

from pathlib import Path

import pytest

from skillpm.installer.disk.stat_cache import StatCache, read_stat_cache, to_file_stat, write_stat_cache

STAMPS = {"": {"skills.json": "9 1 1 1"}, "pdf": {"SKILL.md": "1 2 3 4"}}


def test_stat_cache_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "scan.json"
    write_stat_cache(str(path), STAMPS)

    assert read_stat_cache(str(path)).file_stats == STAMPS


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
def test_invalid_stat_cache_is_empty(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scan.json"
    path.write_text(text)

    assert read_stat_cache(str(path)) == StatCache()


def test_file_written_within_a_clock_tick_before_the_cache_is_not_trusted(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text("Same size, same times, same inode: a later write within the tick would look like this.")
    state = file.stat()
    stamps = {"pdf": {"SKILL.md": to_file_stat(state)}}

    trusted = [
        StatCache(trusted_before=state.st_ctime_ns + later, file_stats=stamps).trusts("pdf", "SKILL.md", state)
        for later in (-1, 0, 1)
    ]

    assert trusted == [False, False, True]


def test_cache_written_right_after_a_file_does_not_trust_it(tmp_path: Path) -> None:
    """Several attempts, since the machine may be slow: a tick is 4 ms."""
    file, path = tmp_path / "SKILL.md", tmp_path / "scan.json"

    def is_trusted() -> bool:
        file.write_text("Written a moment ago.")
        write_stat_cache(str(path), {"pdf": {"SKILL.md": to_file_stat(file.stat())}})
        return read_stat_cache(str(path)).trusts("pdf", "SKILL.md", file.stat())

    assert not all(is_trusted() for _ in range(100))
