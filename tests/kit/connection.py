"""The HTTP side of the server: one connection, its requests read and answered in turn."""

import gzip
import re
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote, urlsplit

from .answers import (
    Answer,
    failure,
    garbage,
    git_answer,
    is_authorized,
    redirect,
    unauthorized,
)
from .behaviour import Behaviour, Request

# What smart HTTP asks of a repository; a fetch needs no more, and a push is not served.
_SERVICE = re.compile(r"/(?P<name>.+?)(?:\.git)?(?P<service>/info/refs|/git-upload-pack)")
_COMMAND = re.compile(rb"[0-9a-f]{4}command=([a-z-]+)")


class Connection(BaseHTTPRequestHandler):
    """A client's connection, kept alive between its requests."""

    protocol_version = "HTTP/1.1"
    # Else each small answer would wait for the client's acknowledgement of the last one.
    disable_nagle_algorithm = True

    def __init__(self, behaviour: Behaviour, *connection: Any) -> None:
        """Serve the connection until it ends: the standard library does so in the constructor."""
        self.behaviour = behaviour
        super().__init__(*connection)

    def do_GET(self) -> None:
        """Read a request, whatever its method, and answer it as the server behaves now."""
        body = self._read_body()
        if self.behaviour.stall:
            self._remember(body)
            self.behaviour.wait_out_the_stall()
            self.close_connection = True
            return
        answer = self._answer(body)
        if fault := self.behaviour.next_fault(f"{self.command} {self.path} {self._command(body) or ''}"):
            self._remember(body)
            self.close_connection = True
            fault(self.connection, answer)
            return
        part = b"" if self.command == "HEAD" else answer.body[: self.behaviour.truncate_after]
        # First counted, then sent: who has the answer can rely on the count.
        self._remember(body, status=answer.status, bytes_out=len(part))
        self._send(answer, part)

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

    def _answer(self, body: bytes) -> Answer:
        """Let the first trouble that is switched on answer, and git if there is none."""
        behaviour = self.behaviour
        if status := behaviour.next_failure():
            return failure(status)
        if behaviour.redirect_to is not None:
            return redirect(behaviour.redirect_to.rstrip("/") + self.path)
        who = behaviour.unauthorized_without
        if who and not is_authorized(self.headers.get("Authorization", ""), *who):
            return unauthorized()
        if behaviour.garbage:
            return garbage()
        if published := behaviour.published_at(urlsplit(self.path).path):
            etag = published.headers.get("ETag")
            same = etag is not None and self.headers.get("If-None-Match") == etag
            return Answer(304, published.headers, b"") if same else published
        return self._ask_git(body)

    def _ask_git(self, body: bytes) -> Answer:
        address = urlsplit(self.path)
        wanted = _SERVICE.fullmatch(unquote(address.path))
        folder = self.behaviour.folder_of(wanted["name"]) if wanted else None
        if not wanted or not folder:
            return failure(404)
        protocol = self.headers.get("Git-Protocol", "")
        request = {
            "REQUEST_METHOD": self.command,
            "PATH_INFO": wanted["service"],
            "QUERY_STRING": address.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": "" if self.behaviour.protocol_v0 else protocol,
        }
        return git_answer(folder, request, body)

    def _remember(self, body: bytes, *, status: int = 0, bytes_out: int = 0) -> None:
        address = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=address.path,
            query=address.query,
            command=self._command(body),
            bytes_out=bytes_out,
            status=status,
            authorization=self.headers.get("Authorization", ""),
        )
        self.behaviour.remember(request)

    def _command(self, body: bytes) -> str | None:
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        command = _COMMAND.match(body)
        return command[1].decode() if command else None

    def _send(self, answer: Answer, part: bytes) -> None:
        """Send the part of an answer that shall arrive; hang up if it is not the whole."""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(part)
        if len(part) < len(answer.body) and self.command != "HEAD":
            self.close_connection = True
