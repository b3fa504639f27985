"""The server over streamable HTTP, on one port, for any number of clients.

On loopback no token is needed; on any other address every request needs one. `Host` and `Origin` are compared exactly.
"""

import gc
import hmac
import logging
import socket
from collections.abc import Callable, Collection, Sequence
from typing import Any

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from skillpm.core.git_syntax import LOOPBACK
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.serving.event_log import log_event
from skillpm.serving.mcp.server import SkillServer
from skillpm.serving.service import SkillService

PATH = "/mcp"
HTTP_PORT = 80  # which `Host` does not name
# A call of the tool has a few kilobytes; whoever sends more means harm.
MAX_BODY = 1_000_000
MAX_SESSIONS = 1_000
SHUTDOWN_SECONDS = 2


class AllowedRequests(Value):
    """Which requests are answered."""

    # Empty if none is needed.
    token: str = ""
    # Values of the headers `Host` and `Origin`, in lower case, besides those of the server's own address.
    hosts: Collection[str] = ()
    origins: Collection[str] = ()


class RequestCheck:
    """Refuses requests without the token, for another host (DNS rebinding), or from a web page of another origin.

    The SDK's own check takes whatever begins like an allowed value: `127.0.0.1:x.evil.example`, and every port.
    """

    def __init__(self, app: ASGIApp, access: AllowedRequests) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, 421 or 403, or pass the request on."""
        if scope["type"] == "http" and (refusal := self._find_refusal(scope)) is not None:
            response, reason = refusal
            client, _ = scope.get("client") or ("an unknown client", 0)
            log_event("warning", "Refused (%d): a request of %s %s", response.status_code, sanitize(client, 80), reason)
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _find_refusal(self, scope: Scope) -> tuple[Response, str] | None:
        """Return the answer to a request that is refused, and the reason for the log."""
        if self._access.token:
            given = _read_headers(scope, b"authorization")
            if not hmac.compare_digest(b"\n".join(given), f"Bearer {self._access.token}".encode()):
                response = PlainTextResponse("unauthorized\n", 401, {"WWW-Authenticate": "Bearer"})
                return response, "with a wrong token" if given else "without the token"
        own = _own_hosts(*scope["server"])
        hosts = [value.decode("latin-1").lower() for value in _read_headers(scope, b"host")]
        if len(hosts) != 1 or hosts[0] not in {*own, *self._access.hosts}:
            name = sanitize(", ".join(hosts), 80)
            return PlainTextResponse("this host is not served here\n", 421), f"for the host `{name}` (--allowed-host)"
        origins = [value.decode("latin-1").lower() for value in _read_headers(scope, b"origin")]
        if origins and not {*origins} <= {*(f"http://{host}" for host in own), *self._access.origins}:
            name = sanitize(", ".join(origins), 80)
            return PlainTextResponse("this origin is refused\n", 403), f"from the origin `{name}` (--allowed-origin)"
        return None


def _read_headers(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


def _own_hosts(address: str, port: int) -> Sequence[str]:
    """Return the values of `Host` that name the address of this machine at which a connection arrived."""
    names = [f"[{address}]" if ":" in address else address, *(["localhost"] if address in LOOPBACK else [])]
    return [f"{name}:{port}" for name in names] + (names if port == HTTP_PORT else [])


def serve_http(
    service: SkillService, listener: socket.socket, *, access: AllowedRequests, on_start: Callable[[], object]
) -> None:
    """Serve on a socket that listens already, until the process is told to end."""
    service.is_remote = True
    # The SDK warns about requests with text of the client, as it came.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    gc.enable()  # short-lived commands run without it, but a server may run for days
    anyio.run(_serve, service, listener, access, on_start)


async def _serve(
    service: SkillService, listener: socket.socket, access: AllowedRequests, on_start: Callable[[], object]
) -> None:
    skills = SkillServer(service)
    app: Any = skills.server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # see `RequestCheck`
    )
    config = uvicorn.Config(
        RequestCheck(app, access),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    server = uvicorn.Server(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(skills.watch)
        on_start()
        await server.serve(sockets=[listener])
        tasks.cancel_scope.cancel()
