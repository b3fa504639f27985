"""The client of OCI registries: manifests, blobs and tags, with the logins that a registry asks for.

OCI distribution specification 1.1. Everything that is named by a digest is verified before it is returned.
"""

import json
import os
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from threading import Lock
from typing import Generic, TypeVar
from urllib.parse import quote, urlencode, urljoin

from skillpm.core.git_syntax import host_of
from skillpm.core.json_text.decoder import parse_json
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, FetchError, NotFoundError, OfflineError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.http.client import HttpClient, Request, Response
from skillpm.fetchers.http.document_cache import CachedResponse, HttpCache
from skillpm.fetchers.http.errors import AuthenticationError
from skillpm.fetchers.http.redirects import resolve_redirect
from skillpm.fetchers.oci.logins import Login, find_login, variable_name
from skillpm.formats.oci.challenge import Challenge, parse_challenge, read_token
from skillpm.formats.oci.manifest import ACCEPTED_TYPES, Descriptor, SkillIndex, SkillManifest, read_document
from skillpm.kinds.oci import is_loopback, is_loopback_url, repository_url
from skillpm.settings import Settings

MAX_MANIFEST = 4_000_000  # what registries accept, too
MAX_TOKEN_RESPONSE = 1_000_000
MAX_TAG_PAGES = 1_000
TAGS_PER_PAGE = 1_000
NEXT_PAGE = re.compile(r"\s*<([^<>]+)>\s*;\s*rel=\"?next\"?\s*")
PROBE_SECONDS = 2.0
HTTPS_PORT = 443
DELETED_HINT = "it may have been deleted: `skillpm update` locks what is there now"
NOT_FOUND_HINT = "check its spelling; some registries answer so if you are not logged in"


Answer = TypeVar("Answer")


class _Answers(Generic[Answer]):
    """Responses by repository and reference. Threads that need the same one at the same time share one request."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Answer] = {}
        self._locks: dict[tuple[str, str], Lock] = {}
        self._lock = Lock()

    def get(self, repository: str, reference: str, fetch: Callable[[], Answer]) -> Answer:
        """Return the answer, fetched once; whatever `fetch` raises is raised, and the next one asks again."""
        key = repository, reference
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self.known:
                self.known[key] = fetch()
            return self.known[key]


class _Access:
    """What is known of a repository: its URL, and the header that logs in; the lock is held until that is known."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.lock = Lock()
        self.is_known = False
        self.headers: Mapping[str, str] = {}


class OciRegistries:
    """All registries that a command contacts. Thread-safe."""

    def __init__(self, settings: Settings, reporter: Reporter, destinations: Destinations) -> None:
        self.settings = settings
        # Registries have logins of their own; one of ~/.netrc, sent unasked, would be used in their place.
        self.http = HttpClient(settings, reporter, destinations, uses_netrc=False)
        self._cache = HttpCache(os.path.join(settings.cache_dir, "indexes"))
        self._lock = Lock()
        self._access: dict[tuple[str, str], _Access] = {}
        self._basic: dict[str, Mapping[str, str]] = {}
        self._logins: dict[str, Login | None] = {}
        self._uses_tls: dict[str, bool] = {}
        self._tags = _Answers[list[str]]()
        self._documents = _Answers[tuple[str, SkillManifest | SkillIndex]]()

    def fetch_document(self, repository: str, reference: str) -> tuple[str, SkillManifest | SkillIndex]:
        """Return the digest and the content of a manifest or an index by tag or digest; offline, as it was last read.

        Raises `NotFoundError` if there is none, and `DocumentError` for one that is not of a skill.
        """
        return self._documents.get(repository, reference, lambda: self._fetch_document(repository, reference))

    def _fetch_document(self, repository: str, reference: str) -> tuple[str, SkillManifest | SkillIndex]:
        address = f"oci://{repository}{'@' if ':' in reference else ':'}{reference}"
        try:
            body = self.recall(address) if self.settings.offline else self._get_manifest(repository, reference)
        except NotFoundError as error:
            hint = DELETED_HINT if ":" in reference else NOT_FOUND_HINT
            raise NotFoundError(f"{address} does not exist", hint=hint) from error
        digest = "sha256:" + sha256(body).hexdigest()
        if ":" in reference and digest != reference:
            raise _wrong_content_error(address, digest)
        try:
            document = read_document(body.decode(), address)
        except UnicodeDecodeError:
            raise DocumentError("this manifest is not UTF-8", where=address) from None
        self._documents.known[repository, digest] = digest, document
        self.keep(address, body)
        return digest, document

    def _get_manifest(self, repository: str, reference: str) -> bytes:
        headers = {"Accept": ", ".join(ACCEPTED_TYPES)}
        return self._get(repository, f"manifests/{quote(reference, safe=':')}", headers, MAX_MANIFEST).body

    def keep(self, address: str, body: bytes) -> None:
        """Cache what an address led to."""
        self._cache.put(address, CachedResponse(body=body))

    def recall(self, address: str) -> bytes:
        """Return what an address led to when it was last read. Raises `OfflineError` if it is not cached."""
        cached = self._cache.get(address)
        if cached is None or cached.body is None:
            raise OfflineError([address])
        return cached.body

    def find_manifest(self, repository: str, reference: str, actions: str = "pull") -> bytes:
        """Return the manifest or index of any kind that a tag or a digest points at; empty if there is none.

        Raises `DocumentError` if it is not JSON.
        """
        headers = {"Accept": ", ".join(ACCEPTED_TYPES)}
        path = f"manifests/{quote(reference, safe=':')}"
        try:
            response = self.send(repository, path, Request(headers=headers, limit=MAX_MANIFEST), actions)
        except NotFoundError:
            return b""
        parse_json(response.body.decode(errors="replace"), f"oci://{repository}:{reference}")  # not a portal's page
        return response.body

    def fetch_blob(self, repository: str, blob: Descriptor) -> bytes:
        """Return the content of a layer, verified. Raises `NotFoundError`, or `RefusedError` for other content."""
        address = f"oci://{repository}@{blob.digest}"
        limit = min(self.settings.limits.download, blob.size)
        if blob.size > limit:
            hint = "if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            raise RefusedError(f"{address} has {blob.size} bytes; at most {limit} are allowed", hint=hint)
        try:
            body = self._get(repository, f"blobs/{blob.digest}", {}, limit).body
        except NotFoundError as error:
            raise NotFoundError(f"{address} does not exist, although its manifest names it") from error
        digest = "sha256:" + sha256(body).hexdigest()
        if digest != blob.digest or len(body) != blob.size:
            raise _wrong_content_error(address, digest)
        return body

    def list_tags(self, repository: str) -> list[str]:
        """Return all tags of a repository, asked for once; offline, as they were then.

        Raises `NotFoundError` if the repository does not exist.
        """
        return self._tags.get(repository, "tags/list", lambda: self._list_tags(repository))

    def _list_tags(self, repository: str) -> list[str]:
        address = f"oci://{repository}"
        if self.settings.offline:
            return [*parse_json(self.recall(address).decode(), address).texts()]
        tags = [tag for page in self._tag_pages(repository) for tag in page]
        self.keep(address, json.dumps(tags).encode())
        return tags

    def _tag_pages(self, repository: str) -> Iterator[tuple[str, ...]]:
        path, seen = f"tags/list?n={TAGS_PER_PAGE}", set[str]()
        while path and path not in seen and len(seen) < MAX_TAG_PAGES:
            seen.add(path)
            try:
                response = self._get(repository, path, {}, self.settings.limits.index)
            except NotFoundError as error:
                raise NotFoundError(f"the repository oci://{repository} does not exist", hint=NOT_FOUND_HINT) from error
            address = f"oci://{repository} (list of tags)"
            try:
                tags = parse_json(response.body.decode(), address).get("tags")
            except UnicodeDecodeError:
                raise DocumentError("this list is not UTF-8", where=address) from None
            yield () if tags is None or tags.value is None else tags.texts()
            path = self._next_page(repository, response)

    def _next_page(self, repository: str, response: Response) -> str:
        """Return what follows the URL of the repository in `Link` (RFC 8288); it must be in the same repository."""
        match = NEXT_PAGE.match(response.headers.get("Link", ""))
        if match is None:
            return ""
        base, target = f"{self._access_of(repository, 'pull').url}/", urljoin(response.url, match[1])
        if not target.startswith(f"{base}tags/list?"):
            problem = f"the link to the next page of tags points outside the repository: {sanitize(target)}"
            raise FetchError(f"oci://{repository}: {problem}")
        return str(target).removeprefix(base)

    def _get(self, repository: str, path: str, headers: Mapping[str, str], limit: int) -> Response:
        return self.send(repository, path, Request(headers=headers, limit=limit), "pull")

    def send(self, repository: str, path: str, request: Request, actions: str) -> Response:
        """Send a request about a repository, and log in if the registry asks for it. `actions`: `pull,push` or `pull`.

        The first request to a repository learns how to log in; all others wait for it, and know it then.
        """
        if self.settings.offline:
            raise OfflineError([f"oci://{repository}"])
        access = self._access_of(repository, actions)
        url = path if "://" in path else f"{access.url}/{path}"
        if not access.is_known:
            with access.lock:
                if not access.is_known:
                    response = self._send_with_login(repository, url, request, actions, access)
                    access.is_known = True
                    return response
        return self._send_with_login(repository, url, request, actions, access)

    def _send_with_login(self, repository: str, url: str, request: Request, actions: str, access: _Access) -> Response:
        host = repository.partition("/")[0]
        used = access.headers or self._basic.get(host, {})
        try:
            return self._send(url, request, used)
        except AuthenticationError as error:
            challenge = parse_challenge(error.challenge)
            if challenge is None or (challenge.scheme == "basic" and used):
                raise self._denied_error(repository, error) from None
            # Another thread may have renewed an expired token meanwhile.
            if access.headers in ({}, used):
                access.headers = self._log_in(repository, access.url, challenge, actions)
        try:
            return self._send(url, request, access.headers)
        except AuthenticationError as error:
            raise self._denied_error(repository, error) from None

    def _send(self, url: str, request: Request, login: Mapping[str, str]) -> Response:
        return self.http.send(url, request.replace(headers={**request.headers, **login}))

    def _log_in(self, repository: str, url: str, challenge: Challenge, actions: str) -> Mapping[str, str]:
        """Return the header that answers a challenge."""
        login, host = self._login(repository), repository.partition("/")[0]
        if challenge.scheme == "basic":
            if login is None or not login.password:
                raise self._denied_error(repository, None)
            self._basic[host] = {"Authorization": login.basic}
            return self._basic[host]
        scope = challenge.scope or f"repository:{repository.partition('/')[2]}:{actions}"
        query = {"service": challenge.service, "scope": scope}
        realm = resolve_redirect(url, challenge.realm)  # which refuses a step down to plain HTTP
        # Any program of this machine can listen on a port, and nothing proves that it is the registry.
        if login is not None and url.startswith("http://") and is_loopback(repository) and not is_loopback_url(realm):
            raise FetchError(
                f"oci://{repository}: the login for a registry on this machine is not sent elsewhere: "
                f"{sanitize(realm.partition('?')[0])}",
                hint="let the registry name a token server on this machine, or use the registry over https",
            )
        headers, content, method = {}, None, "GET"
        if login is not None and login.identity_token:
            form = {**query, "grant_type": "refresh_token", "client_id": "skillpm"}
            content, method = urlencode({**form, "refresh_token": login.identity_token}).encode(), "POST"
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        else:
            realm += ("&" if "?" in realm else "?") + urlencode({key: part for key, part in query.items() if part})
            if login is not None:
                headers["Authorization"] = login.basic
        request = Request(method=method, limit=MAX_TOKEN_RESPONSE, headers=headers, content=content)
        try:
            response = self.http.send(realm, request, referrer=url)
            return {"Authorization": f"Bearer {read_token(response.body.decode(errors='replace'), realm)}"}
        except AuthenticationError as error:
            raise self._denied_error(repository, error) from None
        except NotFoundError as error:  # which would read as if there were no such repository
            raise FetchError(f"oci://{repository}: cannot log in: {error.message}") from None

    def _login(self, repository: str) -> Login | None:
        host = repository.partition("/")[0]
        with self._lock:
            if repository not in self._logins:
                self._logins[repository] = find_login(self.settings, host, repository)
            return self._logins[repository]

    def _denied_error(self, repository: str, error: AuthenticationError | None) -> AuthenticationError:
        host = repository.partition("/")[0]
        has_login = self._login(repository) is not None
        reason = "the registry rejects the login" if has_login else "the registry requires a login"
        # Registries do not reveal whether a repository exists to those who may not read it.
        reason += ", or the repository does not exist" if error is not None and not has_login else ""
        variables = f"{variable_name(host, 'USERNAME')} and {variable_name(host, 'PASSWORD')}"
        return AuthenticationError(
            f"oci://{repository}: access denied: {reason}",
            hint=f"log in with `docker login {host}` (or podman, oras, skopeo), or set {variables}",
        )

    def _access_of(self, repository: str, actions: str) -> _Access:
        with self._lock:
            if (repository, actions) not in self._access:
                self._access[repository, actions] = _Access(self._url(repository))
            return self._access[repository, actions]

    def _url(self, repository: str) -> str:
        """Return the URL of a repository: HTTPS, unless plain HTTP is allowed and nothing else is there."""
        url, host = repository_url(repository), repository.partition("/")[0]
        if not is_loopback(repository) and host_of(url) not in self.settings.insecure_hosts:
            return url
        if host not in self._uses_tls:
            self._uses_tls[host] = _speaks_tls(host)
        return url if self._uses_tls[host] else url.replace("https://", "http://", 1)


def _speaks_tls(host: str) -> bool:
    """Return whether a server speaks TLS; the certificate is checked with the first request."""
    name, port = host_of(f"https://{host}"), host.rpartition("]")[2].rpartition(":")[2]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    address = (name, int(port) if port.isdigit() else HTTPS_PORT)
    try:
        with (
            socket.create_connection(address, PROBE_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=name),
        ):
            return True
    except OSError:  # ssl.SSLError is one; a port that is closed is reported by the first request
        return False


def _wrong_content_error(address: str, actual: str) -> RefusedError:
    return RefusedError(
        f"{address} does not match its digest: {actual}",
        hint="the registry, or something before it, is broken or changes content; nothing was installed",
    )
