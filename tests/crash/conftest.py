"""Fixtures of the crash tests, and the table of what the kill sweep and the crowds did."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kit.reports import recorded_properties


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory, if there is one: ten thousand copies and flushes are fast there."""
    memory = Path("/dev/shm")  # noqa: S108  (a folder of its own is made in it)
    if not (memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 200_000_000):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="skillpm-kills-", dir=memory) as made:
        yield Path(made)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reported = recorded_properties(terminalreporter)
    for line in [line for key, line in reported if key == "crowd"]:
        terminalreporter.write_line(f"crowd, {line}")
    for name, changes, refused, wrong in [row for key, row in reported if key == "refusals"]:
        terminalreporter.write_line(f"{name}: {changes} changes, {refused} of them refused once, {wrong} violations")
    for seed, flips in [row for key, row in reported if key == "flips"]:
        terminalreporter.write_line(
            f"\n{f'wrong byte, seed {seed}':32} {'detected':>9} {'repaired':>9} {'harmless':>9}"
        )
        for place, *ends in [*flips, ["all", *(sum(row[at] for row in flips) for at in (1, 2, 3))]]:
            terminalreporter.write_line(f"{place:32} {ends[0]:9} {ends[1]:9} {ends[2]:9}")
    rows = [row for key, row in reported if key == "kills"]
    if not rows:
        return
    rows = sorted(rows)
    total = ["all", *(sum(row[column] for row in rows) for column in (1, 2, 3))]
    terminalreporter.write_line("")
    terminalreporter.write_line(f"{'killed':32} {'changes':>8} {'kills':>6} {'violations':>11}")
    for name, changes, kills, violations in [*rows, total]:
        terminalreporter.write_line(f"{name:32} {changes:8} {kills:6} {violations:11}")
