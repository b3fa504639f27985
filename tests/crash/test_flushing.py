"""What a power loss leaves is a prefix of what was flushed: so everything is flushed before anything relies on it."""

import os
from pathlib import Path, PurePosixPath

import pytest
from crash.stories import HERE, STORIES
from crash.sweep import Sweep
from crash.tracer import CANNOT_TRACE

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CANNOT_TRACE, reason="following a command needs Linux's ptrace")]
PROJECT = PurePosixPath("ROOT", "work")
OWN = PROJECT / HERE
OURS = f"{OWN}/.skillpm"
DOCUMENTS = {
    f"{PROJECT}/skills.json",
    f"{PROJECT}/skills.lock",
    f"{OWN}/skills.json",
    f"{OURS}/receipt.json",
}
# Nothing relies on these: a cache, a note for people who wait, what is thrown away, and what starts new every time.
FREE = (f"{OURS}/scan.json", f"{OURS}/lock", f"{OURS}/trash", "ROOT/cache", "ROOT/tmp", "ROOT/home")
STAGING, JOURNAL = f"{OURS}/staging", f"{OURS}/journal.json"


class Disk:
    """What a power loss could still take: files and folders that changed since they were flushed."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.folders: set[str] = set()
        self.faults: list[str] = []

    def follow(self, call: list[str]) -> None:
        """Take one change in, and note what relies on what is not flushed yet."""
        name, *paths = call
        target = paths[-1]
        if any(path.startswith(FREE) for path in paths):
            return
        if name in {"fsync", "fdatasync"}:
            self.files.discard(target)
            self.folders.discard(target)
        elif name in {"openat", "open", "write", "fchmod"}:
            self.files.add(target)
            self.folders |= {os.path.dirname(target)} if name.startswith("open") else set()
        elif name.startswith("mkdir") and target.startswith(f"{STAGING}/"):
            self.folders |= {target, os.path.dirname(target)}
        elif name.startswith(("rename", "symlink")):
            self._moved(paths[0] if name.startswith("rename") else "", target)
        elif name.startswith("unlink") and target == JOURNAL:
            self._must_be_flushed(target, [path for path in self.folders if not path.startswith((STAGING, OURS))])
            self.folders = {OURS}
        elif name.startswith(("unlink", "rmdir")) and target.startswith(STAGING):
            self._must_be_flushed(target, [path for path in self.folders if path == OURS])

    def _moved(self, source: str, target: str) -> None:
        if source:
            self._must_be_flushed(target, [path for path in (*self.files, *self.folders) if _is_in(path, source)])
        if target == JOURNAL:
            self._must_be_flushed(target, [path for path in (*self.files, *self.folders) if _is_in(path, STAGING)])
        if target in DOCUMENTS:  # it says of folders that they are there: only its own may be on the way
            waiting = {path for path in self.folders if not path.startswith(OURS)} - {os.path.dirname(target)}
            self._must_be_flushed(target, [*waiting])
        self.folders |= {os.path.dirname(target)}

    def _must_be_flushed(self, target: str, paths: list[str]) -> None:
        self.faults += [f"{target} relies on {path}, which is not flushed" for path in sorted(paths)]


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


# Only a change to installed skills has a journal, and so an order of flushes: an index and a cache can be built again.
JOURNALED = sorted({*STORIES} - {"cache prune", "doctor", "index build", "index prune"})


@pytest.mark.parametrize("name", JOURNALED)
def test_everything_is_flushed_before_anything_relies_on_it(name: str, folder: Path) -> None:
    calls = Sweep(name, folder).calls
    disk = Disk()
    for call in calls:
        disk.follow(call)

    assert disk.faults == []
    assert disk.files == set()
    assert any(call[0] == "fsync" for call in calls)


def test_nothing_is_flushed_where_that_is_switched_off(folder: Path) -> None:
    calls = Sweep("install", folder, {"SKILLPM_FSYNC": "0"}).calls

    assert [call for call in calls if call[0] == "fsync" and not call[-1].startswith("ROOT/cache")] == []
