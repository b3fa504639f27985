"""HTTP connections of the test server."""

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
from .behavior import Request, ServerBehavior

# The endpoints of smart HTTP that a fetch needs; a push is not supported.
_SERVICE = re.compile(r"/(?P<name>.+?)(?:\.git)?(?P<service>/info/refs|/git-upload-pack)")
_COMMAND = re.compile(rb"[0-9a-f]{4}command=([a-z-]+)")


class Connection(BaseHTTPRequestHandler):
    """A connection of a client, kept alive between requests."""

    protocol_version = "HTTP/1.1"
    # With Nagle's algorithm, each small response would wait for the client's acknowledgment of the previous one.
    disable_nagle_algorithm = True

    def __init__(self, behavior: ServerBehavior, *connection: Any) -> None:
        """Serve the connection until it closes (the constructor of the base class does so)."""
        self.behavior = behavior
        super().__init__(*connection)

    def do_GET(self) -> None:
        """Read a request of any method and respond as the switches of the server say."""
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
        # Recorded before it is sent: a test that has the response can rely on the record.
        self._record_request(body, status=answer.status, bytes_out=len(part))
        self._send_response(answer, part)

    do_POST = do_PUT = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Log nothing: the requests are recorded."""

    def _read_body(self) -> bytes:
        """Read the body; git sends large ones in chunks."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _choose_response(self, body: bytes) -> Response:
        """Return the response of the first switch that is on, else a published response, else git's."""
        behavior = self.behavior
        if status := behavior.take_failure():
            return error_response(status)
        if behavior.redirect_to is not None:
            return redirect_response(behavior.redirect_to.rstrip("/") + self.path)
        login = behavior.required_login
        if login and not is_authorized(self.headers.get("Authorization", ""), *login):
            return unauthorized_response()
        if behavior.garbage:
            return portal_response()
        if answer := behavior.respond(self.command, self.path, dict(self.headers), body):
            return answer
        if published := behavior.find_published(urlsplit(self.path).path):
            etag = published.headers.get("ETag")
            same = etag is not None and self.headers.get("If-None-Match") == etag
            return Response(304, published.headers, b"") if same else published
        return self._git_response(body)

    def _git_response(self, body: bytes) -> Response:
        address = urlsplit(self.path)
        match = _SERVICE.fullmatch(unquote(address.path))
        folder = self.behavior.find_folder(match["name"]) if match else None
        if not match or not folder:
            return error_response(404)
        protocol = self.headers.get("Git-Protocol", "")
        request = {
            "REQUEST_METHOD": self.command,
            "PATH_INFO": match["service"],
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
        """Send the head of a response and a part of its body; close the connection if that is not the whole body."""
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        self.wfile.write(part)
        if len(part) < len(response.body) and self.command != "HEAD":
            self.close_connection = True
