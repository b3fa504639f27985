"""`kill -9` at any change of the file system: what is seen then is whole, and the next command heals it.

Every command that changes a skills directory of ten skills is run until one of the calls by which it, or git for it,
changes the file system; there all its processes die at once. `SKILLPM_KILLS=all` tries every call (CONTRIBUTING.md).
"""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crash.quick import Quick
from crash.stories import STORIES
from crash.sweep import Sweep
from crash.tracer import NUMBERS

KILLS = os.environ.get("SKILLPM_KILLS", "60")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in NUMBERS, reason="killing needs Linux's ptrace"
)


@pytest.fixture(scope="module")
def quick() -> Iterator[Quick]:
    with Quick() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Give a folder in memory, where there is one: ten thousand copies and flushes are quick there."""
    memory = Path("/dev/shm")  # noqa: S108  (a folder of its own is made in it)
    if not (memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 200_000_000):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="skillpm-kills-", dir=memory) as made:
        yield Path(made)


def moments(calls: int) -> list[int]:
    """Choose as many moments as this story's part is, spread evenly; another kind of call each time is most likely."""
    if KILLS == "all":
        return [*range(1, calls + 1)]
    wanted = max(1, int(KILLS) // len(STORIES))
    return sorted({1 + round((part + 0.5) * calls / wanted) for part in range(wanted)} & {*range(1, calls + 1)})


@pytest.mark.parametrize("name", STORIES)
def test_a_command_killed_at_any_change_leaves_the_old_state_or_one_that_sync_makes_the_new_one(
    name: str, folder: Path, quick: Quick, record_property: Callable[[str, object], None]
) -> None:
    sweep = Sweep(name, folder, quick)
    chosen = moments(len(sweep.calls))
    found = {moment: sweep.violations(moment) for moment in chosen}
    bad = [line for lines in found.values() for line in lines]
    record_property("kills", [name, len(sweep.calls), len(chosen), sum(map(bool, found.values()))])
    assert not bad, "\n".join(bad)
