"""Waiting for a condition that another process makes true."""

import time
from collections.abc import Callable
from typing import Any


def wait_for(condition: Callable[[], Any], timeout: float = 60) -> Any:
    """Poll a condition and return its first true value; fail after `timeout` seconds."""
    end = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < end, "the condition never became true"
        time.sleep(0.01)
    return value
