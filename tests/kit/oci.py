"""An OCI registry in the process of the test, with logins, tokens and blobs elsewhere, as real ones have them."""

import base64
import hashlib
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .answers import Response
from .server import GitServer

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"


def digest_of(data: bytes) -> str:
    """Return the digest of a blob or a manifest."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass(kw_only=True, slots=True)
class Tokens:
    """A registry that wants tokens: the path of the token server, and for how many requests a token is good."""

    realm: str = "/token"
    uses: int = 1_000_000


class OciRegistry(GitServer):
    """Serves `/v2/` on 127.0.0.1, with all switches of a test server.

    with OciRegistry() as registry:
        project.run("push", "pdf", f"oci://{registry.host}/acme/pdf")
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        """Start to listen on a free port."""
        self.blobs: dict[tuple[str, str], bytes] = {}
        self.manifests: dict[tuple[str, str], tuple[str, bytes]] = {}
        self.login: tuple[str, str] | None = None
        """The user and password that are required, directly or for a token."""
        self.identity_token = "identity"  # noqa: S105
        """What may be exchanged for a token, instead of user and password."""
        self.tokens: Tokens | None = None
        """Require tokens of a token server, instead of user and password."""
        self.blobs_elsewhere: GitServer | None = None
        """Redirect to this server for blobs."""
        self.uploads_elsewhere: GitServer | None = None
        """Let uploads go to this server."""
        self.lists_referrers = False
        """Answer the list of referrers, as registries of the specification 1.1 do."""
        self.tags_per_page = 1_000
        self.endless_tags = False
        """Let each page of the list of tags have a next one."""
        self.overrides: dict[str, Response] = {}
        """Responses instead of the right ones, to requests for `tags`, `blobs`, `token` or the `challenge`."""
        self._issued: dict[str, tuple[str, int]] = {}
        super().__init__(tls=tls)
        self.host = self.address.partition("://")[2]

    def add_blob(self, repository: str, data: bytes) -> str:
        """Store a blob and return its digest."""
        self.blobs[repository, digest_of(data)] = data
        return digest_of(data)

    def add_manifest(self, repository: str, tag: str, value: Any) -> str:
        """Store a manifest or an index, given as JSON, under a tag and its digest; return its digest."""
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        is_index = isinstance(value, dict) and "manifests" in value
        for reference in {tag, digest_of(data)}:
            self.manifests[repository, reference] = (_INDEX if is_index else _MANIFEST, data)
        return digest_of(data)

    def respond(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response | None:
        """Answer a request of the distribution API, or for a token."""
        url = urlsplit(target)
        if self.tokens is not None and url.path == self.tokens.realm:
            if "token" in self.overrides:
                return self.overrides["token"]
            return self._issue_token(parse_qs(url.query or body.decode()), headers)
        if not url.path.startswith("/v2/"):
            return None
        repository, kind, reference = _split(url.path)
        if refusal := self._check_login(repository, method, headers.get("Authorization", "")):
            return self.overrides.get("challenge", refusal)
        if kind in self.overrides:
            return self.overrides[kind]
        if kind == "tags":
            return self._list_tags(repository, parse_qs(url.query))
        if kind == "referrers":
            return self._list_referrers(repository, reference, parse_qs(url.query).get("artifactType", []))
        if kind == "manifests":
            return self._manifest(method, repository, reference, headers, body)
        if kind == "uploads":
            return self._upload(method, repository, parse_qs(url.query), body)
        return self._blob(repository, reference)

    def _check_login(self, repository: str, method: str, given: str) -> Response | None:
        if self.tokens is not None:
            scope = f"repository:{repository}:{'pull' if method in {'GET', 'HEAD'} else 'pull,push'}"
            known, left = self._issued.get(given, ("", 0))
            if known and left > 0 and (known == scope or known.endswith("pull,push")):
                self._issued[given] = known, left - 1
                return None
            realm = self.address + self.tokens.realm if self.tokens.realm.startswith("/") else self.tokens.realm
            challenge = f'Bearer realm="{realm}",service="registry.test",scope="{scope}"'
            return Response(401, {"WWW-Authenticate": challenge}, b"{}")
        if self.login is not None and given != _basic(*self.login):
            return Response(401, {"WWW-Authenticate": 'Basic realm="registry.test"'}, b"{}")
        return None

    def _issue_token(self, query: Mapping[str, list[str]], headers: Mapping[str, str]) -> Response:
        exchanged = query.get("refresh_token") == [self.identity_token]
        if self.login is not None and not exchanged and headers.get("Authorization") != _basic(*self.login):
            return Response(401, {}, b"{}")
        token = f"token-{len(self._issued) + 1}"
        uses = 0 if self.tokens is None else self.tokens.uses
        self._issued[f"Bearer {token}"] = query.get("scope", [""])[0], uses
        return Response(200, {"Content-Type": "application/json"}, json.dumps({"token": token}).encode())

    def _list_tags(self, repository: str, query: Mapping[str, list[str]]) -> Response:
        tags = sorted(tag for name, tag in self.manifests if name == repository and not tag.startswith("sha256:"))
        if not any(name == repository for name, _ in self.manifests):
            return Response(404, {}, b'{"errors": [{"code": "NAME_UNKNOWN"}]}')
        rest = [tag for tag in tags if tag > query.get("last", [""])[0]]
        page, headers = rest[: self.tags_per_page], {"Content-Type": "application/json"}
        if self.endless_tags:
            page, rest = [f"nightly-{len(self.requests):06}"], [*page, ""]
        if len(rest) > len(page):
            headers["Link"] = f'</v2/{repository}/tags/list?n={self.tags_per_page}&last={page[-1]}>; rel="next"'
        return Response(200, headers, json.dumps({"name": repository, "tags": page}).encode())

    def _manifest(
        self, method: str, repository: str, reference: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        if method == "PUT":
            if refusal := self._find_missing(repository, json.loads(body)):
                return refusal
            for key in (reference, digest_of(body)):
                self.manifests[repository, key] = headers.get("Content-Type", ""), body
            subject = json.loads(body).get("subject") if self.lists_referrers else None
            listed = {"OCI-Subject": subject["digest"]} if subject else {}
            return Response(201, {"Docker-Content-Digest": digest_of(body), **listed}, b"")
        if (repository, reference) not in self.manifests:
            return Response(404, {}, b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}')
        media_type, data = self.manifests[repository, reference]
        return Response(200, {"Content-Type": media_type, "Docker-Content-Digest": digest_of(data)}, data)

    def _list_referrers(self, repository: str, digest: str, types: list[str]) -> Response:
        if not self.lists_referrers:
            return Response(404, {}, b"404 page not found")
        entries = []
        for (at, reference), (media_type, data) in self.manifests.items():
            value = json.loads(data)
            is_listed = at == repository and reference == digest_of(data) and value.get("artifactType") in types
            if is_listed and value.get("subject", {}).get("digest") == digest:
                described = {"mediaType": media_type, "digest": reference, "size": len(data)}
                more = {key: value[key] for key in ("artifactType", "annotations") if key in value}
                entries.append({**described, **more})
        body = json.dumps({"schemaVersion": 2, "mediaType": _INDEX, "manifests": entries}).encode()
        return Response(200, {"Content-Type": _INDEX}, body)

    def _find_missing(self, repository: str, document: Any) -> Response | None:
        """Refuse a manifest without its blobs, and an index without its manifests, as `distribution` does."""
        blobs = [*document.get("layers", ()), *([document["config"]] if "config" in document else ())]
        known = {key for at, key in (*self.blobs, *self.manifests) if at == repository}
        if {each["digest"] for each in (*blobs, *document.get("manifests", ()))} <= known:
            return None
        return Response(400, {}, b'{"errors": [{"code": "MANIFEST_BLOB_UNKNOWN"}]}')

    def _blob(self, repository: str, digest: str) -> Response:
        if (repository, digest) not in self.blobs:
            return Response(404, {}, b'{"errors": [{"code": "BLOB_UNKNOWN"}]}')
        data = self.blobs[repository, digest]
        if self.blobs_elsewhere is not None:
            self.blobs_elsewhere.publish(f"/data/{digest}", data)
            return Response(307, {"Location": f"{self.blobs_elsewhere.address}/data/{digest}"}, b"")
        return Response(200, {"Content-Type": "application/octet-stream"}, data)

    def _upload(self, method: str, repository: str, query: Mapping[str, list[str]], body: bytes) -> Response:
        if method == "POST" and "mount" in query:
            digest, origin = query["mount"][0], query["from"][0]
            if (origin, digest) in self.blobs:
                self.blobs[repository, digest] = self.blobs[origin, digest]
                return Response(201, {"Location": f"/v2/{repository}/blobs/{digest}"}, b"")
        if method == "POST" and self.uploads_elsewhere is not None:
            self.uploads_elsewhere.publish("/upload", Response(201, {}, b""))
            return Response(202, {"Location": f"{self.uploads_elsewhere.address}/upload"}, b"")
        if method == "POST":
            return Response(202, {"Location": f"/v2/{repository}/blobs/uploads/1?state=a%2Fb"}, b"")
        if query["digest"][0] != digest_of(body):
            return Response(400, {}, b'{"errors": [{"code": "DIGEST_INVALID"}]}')
        self.add_blob(repository, body)
        return Response(201, {"Location": f"/v2/{repository}/blobs/{digest_of(body)}"}, b"")


def _split(path: str) -> tuple[str, str, str]:
    """Split `/v2/NAME/manifests/REFERENCE` and its like into name, kind and reference."""
    rest = path.removeprefix("/v2/")
    if "/blobs/uploads/" in rest:
        repository, _, reference = rest.partition("/blobs/uploads/")
        return repository, "uploads", reference
    repository, kind, reference = rest.rsplit("/", 2)
    return repository, kind, reference


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
