"""The kernel's limits on git, between two checks."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skillpm.fetchers.git.program.limits import limit_process

LIMIT = 100_000
WRITER = "import sys; sys.stdin.read(1); open('pack', 'wb', 0).write(bytes(int(sys.argv[1])))"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sets limits for another process")
@pytest.mark.parametrize(("size", "written"), [(LIMIT, LIMIT), (10 * LIMIT, LIMIT)], ids=["below", "above"])
def test_no_file_grows_over_the_limit(tmp_path: Path, size: int, written: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(size)], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        limit_process(child.pid, LIMIT)
        child.communicate(b"x")

    assert (tmp_path / "pack").stat().st_size == written
    assert child.returncode in {0, 1, -signal.SIGXFSZ}
