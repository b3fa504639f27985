"""The server over streamable HTTP, on one port, for any number of clients.

On an address of this machine no token is needed, and requests from web pages of other origins are refused (DNS
rebinding). On any other address every request needs the token.
"""

import gc
import hmac
import logging
import socket
from collections.abc import Callable
from typing import Any

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from skillpm.core.git_syntax import LOOPBACK
from skillpm.serving.mcp.server import SkillServer
from skillpm.serving.service import SkillService

PATH = "/mcp"
# A call of the tool has a few kilobytes; whoever sends more means harm.
MAX_BODY = 1_000_000
MAX_SESSIONS = 1_000
SHUTDOWN_SECONDS = 2


class TokenCheck:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or pass the request on."""
        if scope["type"] == "http":
            given = next((value for key, value in scope["headers"] if key == b"authorization"), b"")
            if not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse("unauthorized\n", 401, {"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def serve_http(
    service: SkillService, listener: socket.socket, *, token: str = "", on_start: Callable[[], object]
) -> None:
    """Serve on a socket that listens already, until the process is told to end."""
    # The SDK warns about each refused request with text of the client, as it came.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    gc.enable()  # short-lived commands run without it, but a server may run for days
    anyio.run(_serve, service, listener, token, on_start)


async def _serve(service: SkillService, listener: socket.socket, token: str, on_start: Callable[[], object]) -> None:
    skills = SkillServer(service)
    host = listener.getsockname()[0]
    # Where a token is required, a web page cannot do anything, since it does not have it.
    security = None if host in LOOPBACK else TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app: Any = skills.server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY,
        max_sessions=MAX_SESSIONS,
        transport_security=security,
        host=host,
    )
    config = uvicorn.Config(
        TokenCheck(app, token) if token else app,
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
