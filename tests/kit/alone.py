"""Run async code in a thread of its own: a browser that another test left open keeps an event loop in this thread."""

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio

Result = TypeVar("Result")


def run_in_thread(function: Callable[[], Awaitable[Result]]) -> Result:
    """Run an async function to its end; return its result or raise its exception."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, function).result()
