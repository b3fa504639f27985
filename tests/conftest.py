"""Hooks and fixtures for all tests."""

import os
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from kit import GitServer, Repository
from kit.disks import work_in_memory
from kit.home import leave_home_alone

# Property tests try the same examples in each run, so that a red run is red again. `SKILLPM_EXAMPLES=new` tries others,
# and prints what repeats them. No time limits: this machine may be doing something else.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("new", settings.get_profile("same"), derandomize=False, print_blob=True)
settings.load_profile("new" if os.environ.get("SKILLPM_EXAMPLES") == "new" else "same")

# A script that starts the tests in the background (`&`) has them ignore Ctrl-C, and nohup has them ignore that the
# terminal is closed; so would every process that they start. With a handler, processes begin as they do in a terminal.
if threading.current_thread() is threading.main_thread():
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


_home = leave_home_alone()
work_in_memory()


def pytest_unconfigure() -> None:
    """Remove the home of this process; workers of xdist run no exit handlers."""
    shutil.rmtree(_home, ignore_errors=True)


def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n auto` means: more than processors, since tests wait for child processes."""
    return 2 * (os.cpu_count() or 1)


_left_out: Counter[str] = Counter()
"""How many slow tests were deselected, by folder."""


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count the slow tests that are left out; a worker of xdist sends them to the process that prints."""
    slow = [item for item in items if item.get_closest_marker("slow") and not item.config.option.keyword]
    _left_out.update(item.path.parent.name for item in slow)
    for item in slow[:1]:
        if hasattr(item.config, "workeroutput"):
            item.config.workeroutput["left_out"] = dict(_left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the count of one worker: each has the same tests to choose from."""
    if not _left_out and (counted := getattr(node, "workeroutput", {}).get("left_out")):
        _left_out.update(counted)
        reporter = node.config.pluginmanager.get_plugin("terminalreporter")
        reporter.stats["deselected"] = [SimpleNamespace() for _ in _left_out.elements()]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Report what was skipped, and how to run it."""
    if _left_out:
        folders = ", ".join(f"{folder} {count}" for folder, count in sorted(_left_out.items()))
        terminalreporter.write_line(f"left out: {_left_out.total()} slow tests ({folders})")
        terminalreporter.write_line("          `.venv/bin/pytest -n auto -m slow` runs them")


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """Return an empty repository."""
    return Repository.create(tmp_path / "upstream")


@pytest.fixture
def server() -> Iterator[GitServer]:
    """Return a forge for this test alone."""
    with GitServer() as server:
        yield server
