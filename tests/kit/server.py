"""A local git forge: repositories over smart HTTP, with configurable faults."""

import socket
import ssl
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Any, Self

from .behavior import ServerBehavior
from .connection import Connection
from .repository import Repository


class GitServer(ServerBehavior):
    """Serves repositories on 127.0.0.1 or another address of this machine, each under a name.

    with GitServer() as server:
        server.serve("acme/skills", repository)
        git("clone", server.url("acme/skills"))
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, ip: str = "127.0.0.1") -> None:
        """Start to listen on a free port; with `tls`, over HTTPS."""
        super().__init__()
        self._listener = _Listener((ip, 0), partial(Connection, self))
        if tls is not None:
            self._listener.socket = tls.wrap_socket(
                self._listener.socket, server_side=True, do_handshake_on_connect=False
            )
        self.address = f"{'https' if tls else 'http'}://{ip}:{self._listener.server_address[1]}"
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,))
        self._thread.start()

    def __enter__(self) -> Self:
        """Return the server itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the server."""
        self.close()

    def serve(self, name: str, repository: Repository | Path) -> str:
        """Serve a repository, or a bare git folder, under a name and return its URL."""
        folder = repository.git_dir if isinstance(repository, Repository) else repository
        self._folders[name] = folder
        return self.url(name)

    def remove(self, name: str) -> None:
        """Stop serving a name: respond with 404."""
        del self._folders[name]

    def url(self, name: str) -> str:
        """Return the URL for a name, served or not."""
        return f"{self.address}/{name}.git"

    def close(self) -> None:
        """Close all connections, including stalled ones, and wait for the threads to end."""
        self._listener.shutdown()
        self._listener.close_connections()
        self.stall = False  # only now: a stalled request would be answered before its connection is closed
        self._listener.server_close()
        self._thread.join()


class _Listener(ThreadingTCPServer):
    """Listener that keeps track of open connections: kept-alive ones would outlast the test."""

    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        self._connections: set[socket.socket] = set()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that close the connection or reject the certificate: tests do so on purpose."""
        if not isinstance(sys.exception(), (ConnectionError, ssl.SSLError)):
            super().handle_error(request, client_address)
