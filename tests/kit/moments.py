"""What another process may do between two steps of ours, done at exactly that moment: each test of it says the same."""

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .answers import Response
from .faults import Fault, render_head

_hooks: list[Callable[[str, tuple[Any, ...]], None]] = []


def respond_after(action: Callable[[], object]) -> Fault:
    """Give the fault of a server that answers well, and only when something has been done."""

    def fault(client: socket.socket, answer: Response) -> None:
        action()
        client.sendall(render_head(answer) + answer.body)

    return fault


def _audit_hook(name: str, arguments: tuple[Any, ...]) -> None:
    _hooks[-1](name, arguments)


def _listen(hook: Callable[[str, tuple[Any, ...]], None]) -> None:
    if not _hooks:
        _hooks.append(lambda _name, _arguments: None)
        sys.addaudithook(_audit_hook)  # for good: no hook is ever removed
    _hooks.append(hook)


@contextmanager
def opened(path: str) -> Iterator[list[str]]:
    """Record each opening of a file by this process; the list grows while the block runs."""
    found: list[str] = []

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "open" and str(arguments[0]) == path:
            found.append(path)

    _listen(hook)
    try:
        yield found
    finally:
        _hooks.pop()


@contextmanager
def run_before_event(event: str, path: str, action: Callable[[], object]) -> Iterator[None]:
    """Do something once, right before this process does what Python announces as `event` to whatever begins so.

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
    assert done, f"there was no {event} of {path}"
