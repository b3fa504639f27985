"""Network and server faults by name: each takes a connection and the correct response.

Faults that wait end when the client closes the connection.
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
    """Return the status line and headers of a response as bytes."""
    headers = {
        **response.headers,
        "Content-Length": len(response.body) if length is None else length,
        **(extra_headers or {}),
    }
    lines = [f"HTTP/1.1 {response.status} Test", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode()


def _first_half(response: Response) -> bytes:
    return response.body[: len(response.body) // 2]


def _reset_connection(client: socket.socket) -> None:
    """Reset the connection (RST instead of FIN)."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(client.detach())


def _wait_for_close(client: socket.socket) -> None:
    """Send nothing until the client closes the connection."""
    with suppress(ConnectionError):
        while client.recv(1 << 16):
            pass


def _send_slowly(client: socket.socket, data: bytes) -> None:
    """Send byte by byte, each before an idle timeout."""
    for byte in data:
        if select.select([client], [], [], DRIP_INTERVAL)[0]:
            return
        client.sendall(bytes([byte]))


def reset(client: socket.socket, _: Response) -> None:
    """Reset the connection before the response."""
    _reset_connection(client)


def reset_in_head(client: socket.socket, response: Response) -> None:
    """Reset the connection within the headers."""
    client.sendall(render_head(response)[:20])
    _reset_connection(client)


def reset_in_body(client: socket.socket, response: Response) -> None:
    """Reset the connection within the body."""
    client.sendall(render_head(response) + _first_half(response))
    _reset_connection(client)


def hang_up(_: socket.socket, __: Response) -> None:
    """Close the connection before the response."""


def truncated(client: socket.socket, response: Response) -> None:
    """Send half of the body."""
    client.sendall(render_head(response) + _first_half(response))


def says_more(client: socket.socket, response: Response) -> None:
    """Announce more bytes than the body has."""
    client.sendall(render_head(response, length=len(response.body) + EXTRA_BYTES) + response.body)


def says_less(client: socket.socket, response: Response) -> None:
    """Announce half of the bytes of the body."""
    client.sendall(render_head(response, length=len(_first_half(response))) + response.body)


def says_nonsense(client: socket.socket, response: Response) -> None:
    """Send an invalid Content-Length."""
    client.sendall(render_head(response, length="many") + response.body)


def cut_chunks(client: socket.socket, response: Response) -> None:
    """Send in chunks, without the last one."""
    head = render_head(response).replace(b"Content-Length: ", b"Transfer-Encoding: chunked\r\nX-Length: ")
    client.sendall(head + b"%x\r\n" % len(response.body) + _first_half(response))


def late(seconds: float) -> Fault:
    """Return a fault: respond correctly, after some seconds."""

    def respond(client: socket.socket, response: Response) -> None:
        select.select([client], [], [], seconds)
        with suppress(OSError):
            client.sendall(render_head(response) + response.body)

    return respond


def stall(client: socket.socket, _: Response) -> None:
    """Accept the request and send nothing."""
    _wait_for_close(client)


def stall_in_body(client: socket.socket, response: Response) -> None:
    """Stop sending within the body."""
    client.sendall(render_head(response) + _first_half(response))
    _wait_for_close(client)


def dribble_head(client: socket.socket, response: Response) -> None:
    """Send endless headers, byte by byte."""
    _send_slowly(client, render_head(response)[:-2] + b"X-Filler: " + b"x" * 60_000)


def dribble_body(client: socket.socket, response: Response) -> None:
    """Send an endless body, byte by byte."""
    client.sendall(render_head(response, length=1_000_000))
    _send_slowly(client, response.body + b" " * 60_000)


def endless(client: socket.socket, response: Response) -> None:
    """Send an endless body, fast."""
    client.sendall(render_head(response).replace(b"Content-Length: ", b"X-Length: ") + response.body)
    with suppress(OSError):
        while True:
            client.sendall(b" " * (1 << 16))


def no_http(client: socket.socket, _: Response) -> None:
    """Respond in another protocol."""
    client.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")


def web_page(client: socket.socket, _: Response) -> None:
    """Respond with HTML, as a captive portal does."""
    page = portal_response()
    client.sendall(render_head(page) + page.body)


def status_fault(status: int, retry_after: str = "") -> Fault:
    """Return a fault that responds with a status; a `retry_after` of `+N` is a date N seconds from now."""

    def fault(client: socket.socket, _: Response) -> None:
        response = error_response(status)
        text = retry_after
        if text.startswith("+"):
            text = email.utils.formatdate(time.time() + int(text), usegmt=True)
        client.sendall(render_head(response, extra_headers={"Retry-After": text} if text else None) + response.body)

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
