"""How the work for an input grows with its size, in time of this thread or in calls: never by a clock on the wall."""

import re
import sys
import time
from collections.abc import Callable
from types import FrameType

TRIES = 3


def growth_of_time(work: Callable[[int], object], size: int, factor: int = 4) -> float:
    """Return how many times the CPU time is that an input takes which is `factor` times as large."""
    return _time_of(work, size * factor) / _time_of(work, size)


def growth_of_calls(work: Callable[[int], object], size: int, factor: int = 2) -> float:
    """Return how many times as many functions an input calls which is `factor` times as large."""
    work(1)  # imports modules
    return _calls_of_size(work, size * factor) / _calls_of_size(work, size)


def _calls_of_size(work: Callable[[int], object], size: int) -> int:
    re.purge()  # of the patterns that were compiled for another size
    return calls_of(lambda: work(size))


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions are called."""
    number = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal number
        number += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return number


def _time_of(work: Callable[[int], object], size: int) -> float:
    """Return the least of a few tries, in seconds: other processes only add to it, by way of the caches they share."""
    times = []
    for _ in range(TRIES):
        start = time.thread_time()
        work(size)
        times.append(time.thread_time() - start)
    return min(times)
