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

from .answers import Response, error_response, portal_response

Fault = Callable[[socket.socket, Response], None]
DRIP_INTERVAL = 0.05
EXTRA_BYTES = 1000


def render_head(response: Response, *, length: object = None, extra_headers: Mapping[str, str] | None = None) -> bytes:
    """Give an answer's head as it is sent."""
    headers = {
        **response.headers,
        "Content-Length": len(response.body) if length is None else length,
        **(extra_headers or {}),
    }
    lines = [f"HTTP/1.1 {response.status} As told", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode()


def _first_half(response: Response) -> bytes:
    return response.body[: len(response.body) // 2]


def _reset_connection(client: socket.socket) -> None:
    """Hang up without a farewell."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(client.detach())


def _wait_for_close(client: socket.socket) -> None:
    """Say nothing more until the client is gone."""
    with suppress(ConnectionError):
        while client.recv(1 << 16):
            pass


def _send_slowly(client: socket.socket, data: bytes) -> None:
    """Send byte after byte, none of them too late."""
    for byte in data:
        if select.select([client], [], [], DRIP_INTERVAL)[0]:
            return
        client.sendall(bytes([byte]))


def reset(client: socket.socket, _: Response) -> None:
    """Reset the connection before any answer."""
    _reset_connection(client)


def reset_in_head(client: socket.socket, response: Response) -> None:
    """Reset it within the headers."""
    client.sendall(render_head(response)[:20])
    _reset_connection(client)


def reset_in_body(client: socket.socket, response: Response) -> None:
    """Reset it within the body."""
    client.sendall(render_head(response) + _first_half(response))
    _reset_connection(client)


def hang_up(_: socket.socket, __: Response) -> None:
    """Close the connection before any answer."""


def truncated(client: socket.socket, response: Response) -> None:
    """Send half of what was promised."""
    client.sendall(render_head(response) + _first_half(response))


def says_more(client: socket.socket, response: Response) -> None:
    """Promise more than there is."""
    client.sendall(render_head(response, length=len(response.body) + EXTRA_BYTES) + response.body)


def says_less(client: socket.socket, response: Response) -> None:
    """Promise half of what is sent."""
    client.sendall(render_head(response, length=len(_first_half(response))) + response.body)


def says_nonsense(client: socket.socket, response: Response) -> None:
    """Give a length that is no number."""
    client.sendall(render_head(response, length="many") + response.body)


def cut_chunks(client: socket.socket, response: Response) -> None:
    """Send in chunks, and leave out the last."""
    head = render_head(response).replace(b"Content-Length: ", b"Transfer-Encoding: chunked\r\nX-Length: ")
    client.sendall(head + b"%x\r\n" % len(response.body) + _first_half(response))


def stall(client: socket.socket, _: Response) -> None:
    """Take the request and say nothing."""
    _wait_for_close(client)


def stall_in_body(client: socket.socket, response: Response) -> None:
    """Fall silent in the midst of the body."""
    client.sendall(render_head(response) + _first_half(response))
    _wait_for_close(client)


def dribble_head(client: socket.socket, response: Response) -> None:
    """Send headers byte by byte, without an end."""
    _send_slowly(client, render_head(response)[:-2] + b"X-Filler: " + b"x" * 60_000)


def dribble_body(client: socket.socket, response: Response) -> None:
    """Send the body byte by byte, without an end."""
    client.sendall(render_head(response, length=1_000_000))
    _send_slowly(client, response.body + b" " * 60_000)


def endless(client: socket.socket, response: Response) -> None:
    """Send more and more."""
    client.sendall(render_head(response).replace(b"Content-Length: ", b"X-Length: ") + response.body)
    with suppress(OSError):
        while True:
            client.sendall(b" " * (1 << 16))


def no_http(client: socket.socket, _: Response) -> None:
    """Speak another protocol."""
    client.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")


def web_page(client: socket.socket, _: Response) -> None:
    """Answer as a captive portal does."""
    page = portal_response()
    client.sendall(render_head(page) + page.body)


def status_fault(status: int, retry_after: str = "") -> Fault:
    """Give the fault of answering with a status; `retry_after` is the header, `+N` a date N seconds from now."""

    def fault(client: socket.socket, _: Response) -> None:
        said = error_response(status)
        text = retry_after
        if text.startswith("+"):
            text = email.utils.formatdate(time.time() + int(text), usegmt=True)
        client.sendall(render_head(said, extra_headers={"Retry-After": text} if text else None) + said.body)

    return fault


FAULTS: Final[Mapping[str, Fault]] = {
    **{
        fault.__name__.replace("_", "-"): fault
        for fault in (
            *(reset, reset_in_head, reset_in_body, hang_up, truncated, says_more, says_less, says_nonsense, cut_chunks),
            *(stall, stall_in_body, dribble_head, dribble_body, endless, no_http, web_page),
        )
    },
    **{str(status): status_fault(status) for status in (404, 408, 418, 429, 500, 502, 503, 504)},
    "429-wait-1": status_fault(429, "1"),
    "503-wait-1": status_fault(503, "1"),
    "429-wait-date": status_fault(429, "+2"),
    "503-wait-date": status_fault(503, "+2"),
    "429-wait-hour": status_fault(429, "3600"),
    "503-wait-hour": status_fault(503, "+3600"),
    "429-wait-nonsense": status_fault(429, "soon"),
}
