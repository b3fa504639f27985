"""The world beyond loopback, on loopback: a company's own CA, hosts that it vouches for, the proxy that leads there."""

import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Self

import trustme

from .server import GitServer


class Company:
    """A certificate authority that only those trust who are told to, and the hosts it vouches for."""

    def __init__(self, folder: Path) -> None:
        """Make the authority; its certificate lies in a file, as a company hands it out."""
        self._authority = trustme.CA()
        self.certificate = folder / "company-ca.pem"
        self._authority.cert_pem.write_to_path(self.certificate)

    def host(self, name: str) -> GitServer:
        """Start a server that shows a certificate for a name, whatever address it listens on."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(name).configure_cert(context)
        return GitServer(tls=context)


class Proxy(ThreadingTCPServer):
    """Leads every `CONNECT host:443` to the server that plays that host, and remembers who asked for what.

    with Proxy({"skills.acme.example": server}) as proxy:
        project.run("install", "pdf", env={"https_proxy": proxy.address})
    """

    def __init__(self, servers: dict[str, GitServer]) -> None:
        """Listen on a free port at once."""
        self.servers = servers
        self.wants_login = False
        self.heads: list[str] = []
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def hosts(self) -> list[str]:
        """The hosts asked for, in order."""
        return [head.split()[1].partition(":")[0] for head in self.heads]

    def __enter__(self) -> Self:
        """Give the proxy itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the proxy and wait until all is quiet."""
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Tunnel(StreamRequestHandler):
    """One connection through the proxy."""

    def handle(self) -> None:
        assert isinstance(self.server, Proxy)
        lines = []
        while line := self.rfile.readline().strip():
            lines.append(line.decode())
        self.server.heads.append("\n".join(lines))
        there = self.server.servers.get(lines[0].split()[1].partition(":")[0])
        if self.server.wants_login:
            self.request.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        if there is None:
            self.request.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return
        port = int(there.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as server:
            self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=_pump, args=(server, self.request))
            back.start()
            _pump(self.request, server)
            back.join()


def _pump(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while part := one.recv(65536):
            other.sendall(part)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
