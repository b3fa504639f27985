"""A real nginx with the configuration from the publishing guide."""

import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

GUIDE = Path(__file__).parents[2] / "docs/guides/publishing.md"
PROGRAM = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
FORMAT = "$request_method $uri $status $body_bytes_sent"
LIMIT = 60.0
LAST = "/last-request"


class Nginx:
    """Serves a folder on a free local port, and records the requests."""

    def __init__(self, folder: Path, state: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}/"
        self._state = state
        state.mkdir()
        (state / "nginx.conf").write_text(_configuration(folder, state, self._port))

    def __enter__(self) -> Self:
        command = [PROGRAM or "nginx", "-c", str(self._state / "nginx.conf"), "-e", str(self._state / "errors")]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + LIMIT
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError((self._state / "errors").read_text())
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def set(self, directive: str, value: str) -> None:
        """Change a directive of the guide's block, before the server is started."""
        file = self._state / "nginx.conf"
        text, count = re.subn(rf"(?m)^( *){directive} [^;]*;", rf"\1{directive} {value};", file.read_text())
        assert count == 1
        file.write_text(text)

    def requests(self) -> list[tuple[str, str, int, int]]:
        """Return the requests since the last call: method, path, status and size of the body."""
        # A request is logged after its response was sent. The line of one more request marks the end.
        with socket.create_connection(("127.0.0.1", self._port)) as last:
            last.sendall(f"GET {LAST} HTTP/1.0\r\n\r\n".encode())
            while last.recv(4096):
                pass
        log = self._state / "access"
        until = time.monotonic() + LIMIT
        while f"GET {LAST} " not in (text := log.read_text()):
            assert time.monotonic() < until
        log.write_text("")
        rows = [line.split() for line in text.splitlines()]
        return [(method, path, int(status), int(size)) for method, path, status, size in rows if path != LAST]

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0


def _configuration(folder: Path, state: Path, port: int) -> str:
    """Return the `server` block of the guide with a local port and folder."""
    block = re.search(r"```nginx\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    server = re.sub(r"listen [^;]*;", f"listen 127.0.0.1:{port};", block[1])
    server = re.sub(r"root [^;]*;", f"root {folder};", server)
    private = "".join(
        f"{kind}_temp_path {state}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off; master_process off; pid {state}/pid; events {{ worker_connections 64; }}\n"
        f"http {{ {private} log_format asked '{FORMAT}'; access_log {state}/access asked;\n{server}}}\n"
    )
