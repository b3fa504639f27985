"""Loopback forges that answer like real ones: to git as they do, and with web pages to everything else."""

import re
import ssl
from collections.abc import Mapping
from typing import Literal
from urllib.parse import unquote, urlsplit

from .answers import Response, unauthorized_response
from .server import GitServer

ForgeKind = Literal["github", "gitlab", "gitea", "bitbucket", "azure", "wall"]
SERVICE = re.compile(r"/(?P<name>.+?)(?P<suffix>\.git)?/(?:info/refs|git-upload-pack)")
HTML = {"Content-Type": "text/html; charset=utf-8"}
SIGN_IN = b"<!DOCTYPE html>\n<html><title>Sign in</title><form action='/login'></form></html>\n"
PAGE = b"\n<!doctype html>\n<html><title>skills</title><a href='/login'>Sign in</a></html>\n"


class Forge(GitServer):
    """A forge of a kind, over HTTPS; `serve` a repository under its path without `.git`."""

    def __init__(self, kind: ForgeKind, *, tls: ssl.SSLContext) -> None:
        """Start to listen on a free port."""
        self.kind = kind
        super().__init__(tls=tls)

    def respond(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response | None:
        """Return the response to everything but a request of git for a repository that it may read."""
        del body
        address = urlsplit(target)
        path = unquote(address.path)
        if path in {"/login", "/users/sign_in", "/_signin"}:
            return Response(200, HTML, SIGN_IN)
        if self.kind == "wall":  # a proxy in front of the forge, which knows browsers only
            return Response(302, {"Location": f"/login?to={address.path}"}, b"")
        if service := SERVICE.fullmatch(path):
            if self.find_folder(service["name"]) is None:
                # Whether a private repository exists is not said to everyone.
                return Response(404, HTML, PAGE) if self.kind == "bitbucket" else unauthorized_response()
            if self.kind == "gitlab" and not service["suffix"] and method == "GET":
                location = address.path.replace("/info/refs", ".git/info/refs")
                return Response(301, {"Location": f"https://{headers['Host']}{location}?{address.query}"}, b"")
            return None
        if self.kind == "azure":
            return Response(203, HTML, SIGN_IN)
        if self.kind == "gitlab" and self._repository_of(path) is None:
            return Response(302, {"Location": f"https://{headers['Host']}/users/sign_in"}, b"")
        return Response(200 if self._repository_of(path) else 404, HTML, PAGE)

    def _repository_of(self, path: str) -> str | None:
        return next((name for name in self._folders if f"{path}/".startswith(f"/{name}/")), None)
