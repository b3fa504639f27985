"""Responses of the test server: git's own, and failures."""

import base64
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .git import ENVIRONMENT


@dataclass(frozen=True, slots=True)
class Response:
    """A complete response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def error_response(status: int) -> Response:
    """Return a response with an error status."""
    return Response(status, {"Content-Type": "text/plain"}, b"This failure was requested by a test.\n")


def portal_response() -> Response:
    """Return an HTML page with status 200, as a captive portal does."""
    page = b"<!DOCTYPE html><title>Welcome</title><p>Please accept our terms.\n"
    return Response(200, {"Content-Type": "text/html"}, page)


def redirect_response(url: str) -> Response:
    """Return a redirect."""
    return Response(302, {"Location": url}, b"")


def unauthorized_response() -> Response:
    """Return a request for user and password."""
    return Response(401, {"WWW-Authenticate": 'Basic realm="skillpm tests"'}, b"")


def is_authorized(header: str, user: str, password: str) -> bool:
    """Return whether an `Authorization` header contains this user and password."""
    return header == "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def git_response(folder: Path, variables: Mapping[str, str], body: bytes) -> Response:
    """Return the response of `git http-backend` for a repository; `variables` are the CGI variables."""
    environment = {
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
        env=environment,
        capture_output=True,
        check=False,
    )
    return _parse_cgi(done.stdout) if done.stdout else error_response(500)


def _parse_cgi(output: bytes) -> Response:
    """Parse the output of a CGI program: headers, an empty line, the body."""
    head, _, body = re.split(rb"(\r?\n\r?\n)", output, maxsplit=1)
    headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
    status = headers.pop("Status", "200 OK")
    return Response(int(status.split()[0]), headers, body)
