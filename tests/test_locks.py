"""Locks between processes: one holder at any time, no file of others touched, children that outlive the holder."""

import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from skillpm.errors import BusyError, FileError
from skillpm.locks import hold_lock, is_held


def test_one_holder_at_a_time_although_each_removes_the_lock_file(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    inside: list[int] = []
    most = 0

    def work(number: int) -> None:
        nonlocal most
        for _ in range(300):
            with hold_lock(path, 60, "it"):
                inside.append(number)
                most = max(most, len(inside))
                inside.remove(number)
                os.unlink(path)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_link_in_the_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (tmp_path / "lock").symlink_to(other)

    with pytest.raises(FileError) as caught, hold_lock(str(tmp_path / "lock"), 0, "it"):
        pass
    assert caught.value.message == "cannot create a lock file: a part of the path is a link"
    assert not other.exists()


def test_a_child_that_inherits_the_lock_holds_it_until_the_holder_releases_it(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with ExitStack() as stack:
        descriptor = stack.enter_context(hold_lock(path, 0, "it"))
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[descriptor])
        assert is_held(path)
        with pytest.raises(BusyError) as caught, hold_lock(path, 0, "it"):
            pass
        assert caught.value.message == f"it has been locked by process {os.getpid()} for more than 0 s"
    assert not is_held(path)
    assert child.poll() is None
    child.communicate(b"\n")
