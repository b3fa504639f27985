"""Our tracer sees what strace sees: of skillpm, its threads and its git processes, every call that changes a disk."""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from crash.sweep import Sweep
from crash.tracer import CANNOT_TRACE, NUMBERS

STRACE = shutil.which("strace")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CANNOT_TRACE or STRACE is None, reason="strace is not on PATH")]
NO_FILE = re.compile(r"pipe:|socket:|anon_inode:|/dev/(?!shm/)|/proc/")


@pytest.mark.parametrize("name", ["install", "update copies"])
def test_it_counts_what_strace_counts(name: str, folder: Path) -> None:
    sweep = Sweep(name, folder)
    ours = Counter(call[0] for call in sweep.calls)
    world, log = sweep.copy("straced"), folder / "log"
    names = ",".join(f"?{name}" for name in sorted(set(NUMBERS["x86_64"].values())))
    subprocess.run(
        [str(STRACE), "-f", "-y", "-o", str(log), "-e", f"trace={names}", *world.command, *sweep.words],
        cwd=world.work, env=world.environment(), check=True, capture_output=True,
    )  # fmt: skip

    calls = re.findall(r"^\d+ +(\w+)\((.*)", log.read_text(errors="replace"), re.MULTILINE)
    assert Counter(call for call, arguments in calls if _changes(call, arguments)) == ours
    assert sum(ours.values()) > 400


def _changes(call: str, arguments: str) -> bool:
    """Return whether a call changes the disk: includes opening for writing, and writing to files."""
    if call in {"open", "openat"}:
        return bool(re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", arguments)) and not NO_FILE.search(arguments)
    if call in {"write", "writev", "pwrite64", "fsync", "fdatasync", "fchmod", "ftruncate"}:
        file = re.match(r"\d+<(.*?)>", arguments)
        return file is not None and not NO_FILE.match(file[1])
    return True
