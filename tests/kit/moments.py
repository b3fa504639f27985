"""What another process may do between two steps of ours, done at exactly that moment: each test of it says the same."""

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .answers import Answer
from .faults import Fault, whole

_waiting: list[Callable[[str, tuple[Any, ...]], None]] = []


def after(work: Callable[[], object]) -> Fault:
    """Give the fault of a server that answers well, and only when something has been done."""

    def fault(client: socket.socket, answer: Answer) -> None:
        work()
        client.sendall(whole(answer) + answer.body)

    return fault


def _announced(name: str, arguments: tuple[Any, ...]) -> None:
    _waiting[-1](name, arguments)


@contextmanager
def just_before(event: str, path: str, work: Callable[[], object]) -> Iterator[None]:
    """Do something once, right before this process does what Python announces as `event` to whatever begins so.

    The events are those of `sys.addaudithook`: `os.remove`, `subprocess.Popen`…
    """
    if not _waiting:
        _waiting.append(lambda _name, _arguments: None)
        sys.addaudithook(_announced)  # for good: no hook is ever removed
    done = False

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal done
        if not done and name == event and str(arguments[0]).startswith(path):
            done = True
            work()

    _waiting.append(hook)
    try:
        yield
    finally:
        _waiting.pop()
    assert done, f"there was no {event} of {path}"
