"""Wait for what another process does: asked again and again, and never longer than a minute."""

import time
from collections.abc import Callable
from typing import Any


def wait_for(condition: Callable[[], Any], timeout: float = 60) -> Any:
    """Give the first true value of a question that is asked again and again."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)
    return found
