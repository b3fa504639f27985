"""The HTTP side of the server: one connection, its requests read and answered in turn."""

import gzip
import re
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote, urlsplit

from .answers import (
    Response,
    error_response,
    git_response,
    is_authorized,
    portal_response,
    redirect_response,
    unauthorized_response,
)
from .behaviour import Request, ServerBehavior

# What smart HTTP asks of a repository; a fetch needs no more, and a push is not served.
_SERVICE = re.compile(r"/(?P<name>.+?)(?:\.git)?(?P<service>/info/refs|/git-upload-pack)")
_COMMAND = re.compile(rb"[0-9a-f]{4}command=([a-z-]+)")


class Connection(BaseHTTPRequestHandler):
    """A client's connection, kept alive between its requests."""

    protocol_version = "HTTP/1.1"
    # Else each small answer would wait for the client's acknowledgement of the last one.
    disable_nagle_algorithm = True

    def __init__(self, behavior: ServerBehavior, *connection: Any) -> None:
        """Serve the connection until it ends: the standard library does so in the constructor."""
        self.behavior = behavior
        super().__init__(*connection)

    def do_GET(self) -> None:
        """Read a request, whatever its method, and answer it as the server behaves now."""
        body = self._read_body()
        if self.behavior.stall:
            self._record_request(body)
            self.behavior.wait_until_resumed()
            self.close_connection = True
            return
        answer = self._choose_response(body)
        if fault := self.behavior.take_fault(f"{self.command} {self.path} {self._parse_command(body) or ''}"):
            self._record_request(body)
            self.close_connection = True
            fault(self.connection, answer)
            return
        part = b"" if self.command == "HEAD" else answer.body[: self.behavior.truncate_after]
        # First counted, then sent: who has the answer can rely on the count.
        self._record_request(body, status=answer.status, bytes_out=len(part))
        self._send_response(answer, part)

    do_POST = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Keep quiet: what was asked is in `requests`."""

    def _read_body(self) -> bytes:
        """Read the body, also when it comes in chunks, as git sends a large one."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _choose_response(self, body: bytes) -> Response:
        """Let the first trouble that is switched on answer, and git if there is none."""
        behaviour = self.behavior
        if status := behaviour.take_failure():
            return error_response(status)
        if behaviour.redirect_to is not None:
            return redirect_response(behaviour.redirect_to.rstrip("/") + self.path)
        who = behaviour.required_login
        if who and not is_authorized(self.headers.get("Authorization", ""), *who):
            return unauthorized_response()
        if behaviour.garbage:
            return portal_response()
        if published := behaviour.find_published(urlsplit(self.path).path):
            etag = published.headers.get("ETag")
            same = etag is not None and self.headers.get("If-None-Match") == etag
            return Response(304, published.headers, b"") if same else published
        return self._git_response(body)

    def _git_response(self, body: bytes) -> Response:
        address = urlsplit(self.path)
        wanted = _SERVICE.fullmatch(unquote(address.path))
        folder = self.behavior.find_folder(wanted["name"]) if wanted else None
        if not wanted or not folder:
            return error_response(404)
        protocol = self.headers.get("Git-Protocol", "")
        request = {
            "REQUEST_METHOD": self.command,
            "PATH_INFO": wanted["service"],
            "QUERY_STRING": address.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": "" if self.behavior.protocol_v0 else protocol,
        }
        return git_response(folder, request, body)

    def _record_request(self, body: bytes, *, status: int = 0, bytes_out: int = 0) -> None:
        address = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=address.path,
            query=address.query,
            command=self._parse_command(body),
            bytes_out=bytes_out,
            status=status,
            authorization=self.headers.get("Authorization", ""),
        )
        self.behavior.record_request(request)

    def _parse_command(self, body: bytes) -> str | None:
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        command = _COMMAND.match(body)
        return command[1].decode() if command else None

    def _send_response(self, response: Response, part: bytes) -> None:
        """Send the part of an answer that shall arrive; hang up if it is not the whole."""
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        self.wfile.write(part)
        if len(part) < len(response.body) and self.command != "HEAD":
            self.close_connection = True
