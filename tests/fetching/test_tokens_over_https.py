"""A token of the environment on its way: over TLS, through a proxy, to exactly its host, and not further."""

import base64
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest
from fetching.world import Project
from kit import GitServer, Repository, skill

OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="openssl makes the certificates; it is not on PATH")
HOSTS = ("github.com", "elsewhere.example")
TOKEN = "ghp_0123456789abcdefToken"  # noqa: S105


class Proxy(ThreadingTCPServer):
    """Leads every `CONNECT host:443` to the server that plays that host."""

    def __init__(self, servers: dict[str, GitServer]) -> None:
        self.servers = servers
        super().__init__(("127.0.0.1", 0), Tunnel)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Tunnel(StreamRequestHandler):
    """One connection through the proxy."""

    def handle(self) -> None:
        assert isinstance(self.server, Proxy)
        host = self.rfile.readline().split()[1].decode().partition(":")[0]
        while self.rfile.readline().strip():
            pass
        port = int(self.server.servers[host].address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as server:
            self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=pump, args=(server, self.request))
            back.start()
            pump(self.request, server)
            back.join()


def pump(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while part := one.recv(65536):
            other.sendall(part)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    subprocess.run(
        [
            *(str(OPENSSL), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=tests"),
            *("-addext", f"subjectAltName={names}", "-keyout", "key.pem", "-out", "cert.pem"),
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder / "cert.pem"


@pytest.fixture
def forges(certificate: Path, project: Project, upstream: Repository) -> Iterator[dict[str, GitServer]]:
    """Give github.com and another host, as the project's git reaches them."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    upstream.write(skill("pdf")).commit()
    with GitServer() as github, GitServer() as elsewhere:
        servers = dict(zip(HOSTS, (github, elsewhere), strict=True))
        for server in servers.values():
            listener = server._listener  # noqa: SLF001  (the kit needs no TLS elsewhere)
            listener.socket = context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
            server.serve("acme/pdf", upstream)
        with Proxy(servers) as proxy:
            thread = threading.Thread(target=proxy.serve_forever, args=(0.02,))
            thread.start()
            project.git_config(f"[http]\n\tproxy = {proxy.address}\n\tsslCAInfo = {certificate}")
            yield servers
            proxy.shutdown()
        thread.join()


def only_with(server: GitServer, token: str) -> None:
    server.unauthorized_without = ("x-access-token", token)


def test_a_private_repository_is_read_with_the_token(
    project: Project, upstream: Repository, forges: dict[str, GitServer]
) -> None:
    only_with(forges["github.com"], TOKEN)

    without = project.run("install", "acme/pdf")
    result = project.run("install", "acme/pdf", "-v", env={"GITHUB_TOKEN": TOKEN}, check=True)

    assert without.code == 1
    assert project.installed("pdf") == upstream.files()
    secret = base64.b64encode(f"x-access-token:{TOKEN}".encode())
    written = b"".join(path.read_bytes() for path in project.root.rglob("*") if path.is_file())
    for needle in (TOKEN.encode(), secret):
        assert needle not in written + result.stdout.encode() + result.stderr.encode()


def test_another_host_never_sees_the_token(project: Project, forges: dict[str, GitServer]) -> None:
    only_with(forges["elsewhere.example"], TOKEN)

    result = project.run("install", "https://elsewhere.example/acme/pdf.git", env={"GITHUB_TOKEN": TOKEN})

    assert (result.code, {request.status for request in forges["elsewhere.example"].requests}) == (1, {401})


def test_a_redirect_to_another_host_does_not_carry_the_token_along(
    project: Project, forges: dict[str, GitServer]
) -> None:
    """Git by itself repeats the header to whomever it is sent to."""
    only_with(forges["elsewhere.example"], TOKEN)
    forges["github.com"].redirect_to = "https://elsewhere.example"

    result = project.run("install", "acme/pdf", env={"GITHUB_TOKEN": TOKEN})

    assert result.code == 1
    assert {request.status for request in forges["elsewhere.example"].requests} == {401}


def test_a_repository_that_moved_is_found_without_the_token(
    project: Project, upstream: Repository, forges: dict[str, GitServer]
) -> None:
    forges["github.com"].redirect_to = "https://elsewhere.example"

    project.run("install", "acme/pdf", env={"GITHUB_TOKEN": TOKEN}, check=True)

    assert project.installed("pdf") == upstream.files()
