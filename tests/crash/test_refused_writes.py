"""The disk is full, broken or read-only at any change of the file system: nothing is half done, and it is told why.

Each call by which an install of ten skills, or git for it, changes the file system is refused once.
`SKILLPM_REFUSALS=all` tries every call with every error in turn (CONTRIBUTING.md).
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from crash.sweep import NO_STATE, Sweep
from crash.tracer import CANNOT_REFUSE

HOW_MANY = os.environ.get("SKILLPM_REFUSALS", "12")
ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EIO)
pytestmark = pytest.mark.skipif(CANNOT_REFUSE, reason="refusing a call needs Linux's ptrace on x86_64")


@pytest.mark.parametrize("name", ["install", "update"])
def test_an_install_that_is_refused_a_change_leaves_the_old_state_or_succeeds(
    name: str, folder: Path, record_property: Callable[[str, object], None]
) -> None:
    sweep = Sweep(name, folder)
    count = len(sweep.calls)
    wanted = count if HOW_MANY == "all" else int(HOW_MANY) // 2
    chosen = sorted({1 + round((part + 0.5) * count / wanted) % count for part in range(wanted)})
    if HOW_MANY == "all":
        chosen = [*range(1, count + 1)]
    found = {moment: sweep.refused(moment, ERRORS[at % len(ERRORS)]) for at, moment in enumerate(chosen)}

    record_property("refusals", [name, count, len(chosen), sum(map(bool, found.values()))])
    bad = [line for lines in found.values() for line in lines]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(("name", "place"), [("install", 1), ("update", 2), ("uninstall", 1)])
def test_a_change_whose_first_move_is_refused_is_taken_back(name: str, place: int, folder: Path) -> None:
    sweep = Sweep(name, folder)
    journal = next(at for at, call in enumerate(sweep.calls, 1) if call[-1].endswith("/journal.json"))
    first = next(at for at, call in enumerate(sweep.calls, 1) if at > journal and call[0].startswith("rename"))

    world, calls, ended = sweep.run_refused(first, errno.EDQUOT)

    assert ended.code == 1
    assert ended.stderr.splitlines()[-3:] == [
        "error: cannot install: the disk quota is used up",
        f"  where: {calls[first - 1][place].replace('ROOT', str(world.root))}",
        "  try: free some space and run the command again; nothing was left half done",
    ]
    assert world.snapshot(ignore=NO_STATE) == sweep.before.files
