"""Run what is asynchronous in a thread of its own: a browser that another test left open has a loop running in ours."""

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio

Result = TypeVar("Result")


def run_in_thread(function: Callable[[], Awaitable[Result]]) -> Result:
    """Give what it gives, or raise what it raises."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, function).result()
