"""What holds for all tests, and what many of them begin with."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import GitServer, Repository

# Whoever starts the tests in the background (`&` in a script) has them ignore Ctrl-C, and so would every process that
# they start: with a handler of ours in place, processes begin as they do in a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """Give how many processes `-n auto` means: more than processors, since tests wait for what they start."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """Give a repository that holds nothing yet."""
    return Repository.create(tmp_path / "upstream")


@pytest.fixture
def server() -> Iterator[GitServer]:
    """Give a forge of this test's own."""
    with GitServer() as server:
        yield server
