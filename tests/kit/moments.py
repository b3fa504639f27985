"""Run code at an exact moment, in place of another process: race conditions become reproducible."""

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .answers import Response
from .faults import Fault, render_head

_hooks: list[Callable[[str, tuple[Any, ...]], None]] = []


def respond_after(action: Callable[[], object]) -> Fault:
    """Return a fault that runs an action, then sends the correct response."""

    def fault(client: socket.socket, answer: Response) -> None:
        action()
        client.sendall(render_head(answer) + answer.body)

    return fault


def _audit_hook(name: str, arguments: tuple[Any, ...]) -> None:
    _hooks[-1](name, arguments)


def _listen(hook: Callable[[str, tuple[Any, ...]], None]) -> None:
    if not _hooks:
        _hooks.append(lambda _name, _arguments: None)
        sys.addaudithook(_audit_hook)  # audit hooks cannot be removed
    _hooks.append(hook)


@contextmanager
def opened(path: str) -> Iterator[list[str]]:
    """Record each opening of a file by this process; the list grows while the block runs."""
    paths: list[str] = []

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "open" and str(arguments[0]) == path:
            paths.append(path)

    _listen(hook)
    try:
        yield paths
    finally:
        _hooks.pop()


@contextmanager
def run_before_event(event: str, path: str, action: Callable[[], object]) -> Iterator[None]:
    """Run an action once, right before this process raises an audit event for a path with this prefix.

    The events are those of `sys.addaudithook`: `os.remove`, `subprocess.Popen`…
    """
    done = False

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal done
        if not done and name == event and str(arguments[0]).startswith(path):
            done = True
            action()

    _listen(hook)
    try:
        yield
    finally:
        _hooks.pop()
    assert done, f"no {event} of {path}"
