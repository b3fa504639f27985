"""The disk is full, broken or read-only at any file system change: nothing is half done, and the error is reported.

Each call by which an install of ten skills, or git for it, changes the file system is refused once.
`SKILLPM_REFUSALS=all` tries every call with every error in turn (CONTRIBUTING.md).
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from crash.stories import World
from crash.sweep import NO_STATE, Sweep
from crash.tracer import CANNOT_REFUSE
from kit import Result

HOW_MANY = os.environ.get("SKILLPM_REFUSALS", "12")
ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EIO)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CANNOT_REFUSE, reason="refusing a call needs Linux's ptrace on x86_64"),
]


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


Calls = list[list[str]]


def first_move(calls: Calls) -> int:
    return after(calls, lambda call: call[-1].endswith("/journal.json"), "rename")


def flush_of_journal(calls: Calls) -> int:
    return after(calls, lambda call: call[-1].endswith("/journal.json"), "fsync")


def last_flush(calls: Calls) -> int:
    return after(calls, lambda call: call[0].startswith("unlink") and call[1].endswith("/journal.json"), "fsync")


def after(calls: Calls, is_known: Callable[[list[str]], bool], kind: str) -> int:
    """Return the number of the first call of a kind after a known one; 0 if it was not reached."""
    known = next((at for at, call in enumerate(calls, 1) if is_known(call)), len(calls))
    return next((at for at, call in enumerate(calls, 1) if at > known and call[0].startswith(kind)), 0)


def refused_at(sweep: Sweep, which: Callable[[Calls], int], error: int) -> tuple[World, list[str], Result]:
    """Refuse one call. Git and the threads that flush make some more or fewer calls before it in each run."""
    moment, calls = 0, sweep.calls
    for _ in range(20):
        moment = which(calls)
        world, calls, ended = sweep.run_refused(moment, error)
        if which(calls) == moment:
            return world, calls[moment - 1], ended
    pytest.fail("no run was like the one before it")


@pytest.mark.parametrize(("name", "place"), [("install", 1), ("update", 2), ("uninstall", 1)])
def test_a_change_whose_first_move_is_refused_is_taken_back(name: str, place: int, folder: Path) -> None:
    sweep = Sweep(name, folder)

    world, refused, ended = refused_at(sweep, first_move, errno.EDQUOT)

    assert ended.code == 1
    assert ended.stderr.splitlines()[-3:] == [
        "error: cannot install: disk quota exceeded",
        f"  where: {refused[place].replace('ROOT', str(world.root))}",
        "  hint: free some space and run the command again; no partial change was left",
    ]
    assert world.snapshot(ignore=NO_STATE) == sweep.before.files


@pytest.mark.parametrize("name", ["install", "link"])
def test_a_journal_of_which_the_folder_is_not_flushed_is_taken_back(name: str, folder: Path) -> None:
    sweep = Sweep(name, folder)

    world, _, ended = refused_at(sweep, flush_of_journal, errno.EIO)

    assert ended.code == 1
    assert ended.stderr.splitlines()[-3:] == [
        "error: cannot write the journal: input/output error",
        f"  where: {world.work}/.agent-skills/.skillpm/journal.json",
        "  hint: check the disk (see the system log), then run the command again; no partial change was left",
    ]
    assert world.snapshot(ignore=NO_STATE) == sweep.before.files


def test_a_failed_final_flush_is_reported_and_the_change_is_complete(folder: Path) -> None:
    sweep = Sweep("update", folder)

    world, _, ended = refused_at(sweep, last_flush, errno.EIO)

    assert ended.code == 0
    assert (
        "warning: the change is complete, but the disk did not confirm it: input/output error; see the system log\n"
        in ended.stderr
    )
    assert world.snapshot(ignore=NO_STATE) == sweep.after.files
