"""A private CA, TLS servers with its certificates, and an HTTP proxy to them, all on loopback."""

import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Self

import trustme

from .server import GitServer


class CertificateAuthority:
    """A private certificate authority, and TLS servers with its certificates."""

    def __init__(self, folder: Path) -> None:
        """Create the authority and write its certificate to `certificate_file`."""
        self._authority = trustme.CA()
        self.certificate_file = folder / "company-ca.pem"
        self._authority.cert_pem.write_to_path(self.certificate_file)

    def start_server(self, name: str) -> GitServer:
        """Start a server with a certificate for a host name."""
        return GitServer(tls=self.context(name))

    def context(self, name: str) -> ssl.SSLContext:
        """Return the TLS settings of a server with a certificate for a host name."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(name).configure_cert(context)
        return context

    def write_files(self, name: str, certificate: Path, key: Path) -> None:
        """Write a certificate for a host name and its key, for another server than ours."""
        issued = self._authority.issue_cert(name)
        certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(key)


class Proxy(ThreadingTCPServer):
    """A proxy that connects `CONNECT host:443` to the test server for that host, and records the requests.

    with Proxy({"skills.acme.example": server}) as proxy:
        project.run("install", "pdf", env={"https_proxy": proxy.address})
    """

    def __init__(self, servers: dict[str, GitServer]) -> None:
        """Start to listen on a free port."""
        self.servers = servers
        self.requires_login = False
        self.request_heads: list[str] = []
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def requested_hosts(self) -> list[str]:
        """The requested hosts, in order."""
        return [head.split()[1].partition(":")[0] for head in self.request_heads]

    def __enter__(self) -> Self:
        """Return the proxy itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the proxy and wait for its connections to end."""
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
        self.server.request_heads.append("\n".join(lines))
        target = self.server.servers.get(lines[0].split()[1].partition(":")[0])
        if self.server.requires_login:
            self.request.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        if target is None:
            self.request.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return
        _tunnel(self.request, target, b"HTTP/1.1 200 OK\r\n\r\n")


class EitherPort(ThreadingTCPServer):
    """One port for both HTTP and HTTPS: the first byte of a connection decides which server gets it."""

    def __init__(self, plain: GitServer, secure: GitServer) -> None:
        """Start to listen on a free port."""
        self.servers = (plain, secure)
        super().__init__(("127.0.0.1", 0), _Either)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self._thread.start()

    def __enter__(self) -> Self:
        """Return the port itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the port and wait for its connections to end."""
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Either(StreamRequestHandler):
    """One connection to such a port."""

    def handle(self) -> None:
        assert isinstance(self.server, EitherPort)
        is_tls = self.request.recv(1, socket.MSG_PEEK) == b"\x16"  # RFC 8446, 5.1: a record of the handshake
        _tunnel(self.request, self.server.servers[is_tls])


def _tunnel(client: socket.socket, target: GitServer, greeting: bytes = b"") -> None:
    """Relay bytes between a client and a server until both have closed."""
    with socket.create_connection(("127.0.0.1", int(target.address.rpartition(":")[2]))) as server:
        client.sendall(greeting)
        back = threading.Thread(target=_relay, args=(server, client))
        back.start()
        _relay(client, server)
        back.join()


def _relay(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
