"""What a network and its servers do wrong, by name: each takes a connection and what should have been answered.

What waits ends when the client hangs up, so nothing here sleeps.
"""

import email.utils
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from .answers import Answer, failure, garbage

Fault = Callable[[socket.socket, Answer], None]
DRIP = 0.05
MORE = 1000


def whole(answer: Answer, *, length: object = None, more: Mapping[str, str] | None = None) -> bytes:
    """Give an answer's head as it is sent."""
    headers = {**answer.headers, "Content-Length": len(answer.body) if length is None else length, **(more or {})}
    lines = [f"HTTP/1.1 {answer.status} As told", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode()


def _half(answer: Answer) -> bytes:
    return answer.body[: len(answer.body) // 2]


def _reset(client: socket.socket) -> None:
    """Hang up without a farewell."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(client.detach())


def _wait(client: socket.socket) -> None:
    """Say nothing more until the client is gone."""
    with suppress(ConnectionError):
        while client.recv(1 << 16):
            pass


def _drip(client: socket.socket, data: bytes) -> None:
    """Send byte after byte, none of them too late."""
    for byte in data:
        if select.select([client], [], [], DRIP)[0]:
            return
        client.sendall(bytes([byte]))


def reset(client: socket.socket, _: Answer) -> None:
    """Reset the connection before any answer."""
    _reset(client)


def reset_in_head(client: socket.socket, answer: Answer) -> None:
    """Reset it within the headers."""
    client.sendall(whole(answer)[:20])
    _reset(client)


def reset_in_body(client: socket.socket, answer: Answer) -> None:
    """Reset it within the body."""
    client.sendall(whole(answer) + _half(answer))
    _reset(client)


def hang_up(_: socket.socket, __: Answer) -> None:
    """Close the connection before any answer."""


def truncated(client: socket.socket, answer: Answer) -> None:
    """Send half of what was promised."""
    client.sendall(whole(answer) + _half(answer))


def says_more(client: socket.socket, answer: Answer) -> None:
    """Promise more than there is."""
    client.sendall(whole(answer, length=len(answer.body) + MORE) + answer.body)


def says_less(client: socket.socket, answer: Answer) -> None:
    """Promise half of what is sent."""
    client.sendall(whole(answer, length=len(_half(answer))) + answer.body)


def says_nonsense(client: socket.socket, answer: Answer) -> None:
    """Give a length that is no number."""
    client.sendall(whole(answer, length="many") + answer.body)


def cut_chunks(client: socket.socket, answer: Answer) -> None:
    """Send in chunks, and leave out the last."""
    head = whole(answer).replace(b"Content-Length: ", b"Transfer-Encoding: chunked\r\nX-Length: ")
    client.sendall(head + b"%x\r\n" % len(answer.body) + _half(answer))


def stall(client: socket.socket, _: Answer) -> None:
    """Take the request and say nothing."""
    _wait(client)


def stall_in_body(client: socket.socket, answer: Answer) -> None:
    """Fall silent in the midst of the body."""
    client.sendall(whole(answer) + _half(answer))
    _wait(client)


def dribble_head(client: socket.socket, answer: Answer) -> None:
    """Send headers byte by byte, without an end."""
    _drip(client, whole(answer)[:-2] + b"X-Filler: " + b"x" * 60_000)


def dribble_body(client: socket.socket, answer: Answer) -> None:
    """Send the body byte by byte, without an end."""
    client.sendall(whole(answer, length=1_000_000))
    _drip(client, answer.body + b" " * 60_000)


def endless(client: socket.socket, answer: Answer) -> None:
    """Send more and more."""
    client.sendall(whole(answer).replace(b"Content-Length: ", b"X-Length: ") + answer.body)
    with suppress(OSError):
        while True:
            client.sendall(b" " * (1 << 16))


def no_http(client: socket.socket, _: Answer) -> None:
    """Speak another protocol."""
    client.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")


def web_page(client: socket.socket, _: Answer) -> None:
    """Answer as a captive portal does."""
    page = garbage()
    client.sendall(whole(page) + page.body)


def answers(status: int, retry_after: str = "") -> Fault:
    """Give the fault of answering with a status; `retry_after` is the header, `+N` a date N seconds from now."""

    def fault(client: socket.socket, _: Answer) -> None:
        said = failure(status)
        text = retry_after
        if text.startswith("+"):
            text = email.utils.formatdate(time.time() + int(text), usegmt=True)
        client.sendall(whole(said, more={"Retry-After": text} if text else None) + said.body)

    return fault


FAULTS: Final[Mapping[str, Fault]] = {
    **{
        fault.__name__.replace("_", "-"): fault
        for fault in (
            *(reset, reset_in_head, reset_in_body, hang_up, truncated, says_more, says_less, says_nonsense, cut_chunks),
            *(stall, stall_in_body, dribble_head, dribble_body, endless, no_http, web_page),
        )
    },
    **{str(status): answers(status) for status in (404, 408, 418, 429, 500, 502, 503, 504)},
    "429-wait-1": answers(429, "1"),
    "503-wait-1": answers(503, "1"),
    "429-wait-date": answers(429, "+2"),
    "503-wait-date": answers(503, "+2"),
    "429-wait-hour": answers(429, "3600"),
    "503-wait-hour": answers(503, "+3600"),
    "429-wait-nonsense": answers(429, "soon"),
}
