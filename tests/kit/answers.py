"""What a server answers: git's own words, or one of the things that go wrong."""

import base64
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .git import ENVIRONMENT


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer, before it is sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def error_response(status: int) -> Response:
    """Say only that it did not work."""
    return Response(status, {"Content-Type": "text/plain"}, b"The server fails, as it was told to.\n")


def portal_response() -> Response:
    """Answer as a captive portal does: all is well, and nothing is git."""
    page = b"<!DOCTYPE html><title>Welcome</title><p>Please accept our terms.\n"
    return Response(200, {"Content-Type": "text/html"}, page)


def redirect_response(url: str) -> Response:
    """Send the client elsewhere."""
    return Response(302, {"Location": url}, b"")


def unauthorized_response() -> Response:
    """Ask for a user and a password."""
    return Response(401, {"WWW-Authenticate": 'Basic realm="skillpm tests"'}, b"")


def is_authorized(header: str, user: str, password: str) -> bool:
    """Tell whether an `Authorization` header brings this user and password."""
    return header == "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def git_response(folder: Path, variables: Mapping[str, str], body: bytes) -> Response:
    """Let `git http-backend` answer for one repository; `request` holds its CGI variables."""
    surroundings = {
        **ENVIRONMENT,
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(body)),
        **variables,
    }
    done = subprocess.run(
        ["git", "http-backend"],
        input=body,
        env=surroundings,
        capture_output=True,
        check=False,
    )
    return _parse_cgi(done.stdout) if done.stdout else error_response(500)


def _parse_cgi(output: bytes) -> Response:
    """Take apart what a CGI program prints: headers, a blank line, a body."""
    head, _, body = re.split(rb"(\r?\n\r?\n)", output, maxsplit=1)
    headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
    status = headers.pop("Status", "200 OK")
    return Response(int(status.split()[0]), headers, body)
