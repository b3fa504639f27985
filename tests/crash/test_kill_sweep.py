"""`kill -9` at any change of the file system: what is seen then is whole, and the next command heals it.

Every command that changes a skills directory of ten skills is run until one of the calls by which it, or git for it,
changes the file system; there all its processes die at once. `SKILLPM_KILLS=all` tries every call (CONTRIBUTING.md).
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from crash.stories import STORIES
from crash.sweep import Sweep
from crash.tracer import CANNOT_TRACE

KILLS = os.environ.get("SKILLPM_KILLS", "75")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CANNOT_TRACE, reason="killing needs Linux's ptrace")]


def moments(calls: int) -> list[int]:
    """Choose as many moments as this story's part is, spread evenly; another kind of call each time is most likely."""
    if KILLS == "all":
        return [*range(1, calls + 1)]
    wanted = max(1, int(KILLS) // len(STORIES))
    return sorted({1 + round((part + 0.5) * calls / wanted) for part in range(wanted)} & {*range(1, calls + 1)})


@pytest.mark.parametrize("name", STORIES)
def test_a_command_killed_at_any_change_leaves_the_old_state_or_one_that_sync_makes_the_new_one(
    name: str, folder: Path, record_property: Callable[[str, object], None]
) -> None:
    sweep = Sweep(name, folder)
    chosen = moments(len(sweep.calls))
    found = {moment: sweep.violations(moment) for moment in chosen}
    bad = [line for lines in found.values() for line in lines]
    record_property("kills", [name, len(sweep.calls), len(chosen), sum(map(bool, found.values()))])
    assert not bad, "\n".join(bad)
