"""HTTP client: httpx, with limits on responses, retries, and rules for redirects.

A file is downloaded completely or not at all. Transient failures (lost connections, 429, 5xx) are retried. Redirects
never lead from https to http, nor from the internet to this machine or its network, and never carry credentials to
another host.
"""

import gzip
import io
import netrc
import os
import ssl
import time
import zlib
from collections.abc import Generator, Mapping
from threading import Event, Lock

import httpx
import truststore

from skillpm.core.git_syntax import host_of, is_insecure
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import FetchError, UsageError
from skillpm.events import Reporter
from skillpm.fetchers.common.destinations import REDIRECT_HINT, Destinations
from skillpm.fetchers.common.retry import MAX_ATTEMPTS, RetryPolicy
from skillpm.fetchers.http.errors import (
    SUCCESS_STATUSES,
    ResponseTooLarge,
    TransientError,
    check_status,
    translate_error,
)
from skillpm.fetchers.http.redirects import resolve_redirect, resolved_host
from skillpm.fetchers.http.timeouts import TimeoutBackend
from skillpm.settings import Settings

CHUNK_SIZE = 1 << 16
MAX_LENGTH_DIGITS = 16


MAX_CONNECT_TIMEOUT = 10.0
MAX_REDIRECTS = 5
REDIRECT_STATUSES = frozenset([301, 302, 303, 307, 308])


# OpenSSL holds locks of its own while it makes a context: a child that was forked meanwhile would wait for ever.
_making_context = Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_making_context.acquire,
        after_in_parent=_making_context.release,
        after_in_child=_making_context.release,
    )


def fetch_task(url: str) -> str:
    """Return the name of the task that fetches a file, for `Reporter`."""
    return f"fetching {sanitize(url)}"


class Request(Value):
    """What is sent, whatever the URL after redirects. `limit` is the maximum size of the response, in bytes."""

    method: str = "GET"
    limit: int
    # Sent to the first host only: they may hold credentials.
    headers: Mapping[str, str] = EMPTY_MAPPING
    content: bytes | None = None
    accept_gzip: bool = False
    # Other statuses are errors.
    accepted: frozenset[int] = SUCCESS_STATUSES


class Response(Value):
    """A complete response; `url` is the one after all redirects."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes


def _create_client(settings: Settings) -> httpx.Client:
    """Create the client. Raises `UsageError` for an unusable proxy in the environment."""
    with _making_context:
        context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return httpx.Client(
            verify=context,
            timeout=httpx.Timeout(settings.idle_timeout, connect=min(MAX_CONNECT_TIMEOUT, settings.idle_timeout)),
            # Uncompressed by default: then the size limit is that of what is received.
            headers={"User-Agent": "skillpm", "Accept-Encoding": "identity"},
            follow_redirects=False,
        )
    except (httpx.InvalidURL, ValueError, ImportError) as error:
        # The values may hold passwords, and so may the messages of httpx.
        names = [name for name, value in sorted(settings.environ.items()) if name.lower().endswith("_proxy") and value]
        raise UsageError(
            f"cannot use the proxy settings: {', '.join(names) or 'those of your system'}",
            hint="write a proxy as http://HOST:PORT (for SOCKS, run `pip install 'httpx[socks]'` in the environment of "
            "skillpm), and no_proxy as a list of hosts",
        ) from error


class _NetrcLogins(httpx.Auth):
    """The logins of a `.netrc`, each sent to its own host only. `default` would send a password to every host."""

    def __init__(self, path: str) -> None:
        hosts = netrc.netrc(path).hosts
        self.logins = {host: (user, password) for host, (user, _, password) in hosts.items() if host != "default"}

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Send the login of the request's host, if any."""
        user, password = self.logins.get(request.url.host, ("", ""))
        if password:
            yield from httpx.BasicAuth(user or "", password).auth_flow(request)
        else:
            yield request


def read_netrc(settings: Settings) -> httpx.Auth | None:
    """Read `~/.netrc` (or `NETRC`), if it exists. Raises `FetchError` for an invalid file."""
    path = settings.environ.get("NETRC") or os.path.join(settings.home, ".netrc")
    try:
        return _NetrcLogins(path) if os.path.isfile(path) else None
    except (OSError, netrc.NetrcParseError, UnicodeError) as error:
        raise FetchError(f"cannot read the credentials: {sanitize(str(error), 100)}", where=path) from None


class HttpClient:
    """The connection pool of a command. Trusts the system's certificates and uses the proxies of the environment."""

    def __init__(
        self, settings: Settings, reporter: Reporter, destinations: Destinations, *, uses_netrc: bool = True
    ) -> None:
        self.settings = settings
        self.reporter = reporter
        self.note = reporter.log_verbose
        self.destinations = destinations
        self.stop_event = Event()
        self._client = _create_client(settings)
        self._backend = TimeoutBackend(destinations)
        self._backend.install(self._client)
        self._auth = read_netrc(settings) if uses_netrc else None

    def close(self) -> None:
        """Close the connections, which a command leaves to the end of its process."""
        self._client.close()

    def get(
        self,
        url: str,
        *,
        limit: int,
        headers: dict[str, str] | None = None,
        method: str = "GET",
        accept_gzip: bool = False,
        referrer: str = "",
    ) -> Response:
        """Download a file, or with `HEAD` only check that it exists. `headers` are sent to this host only.

        `referrer` is the document that names the URL, if a server wrote it.

        Raises `NotFoundError` for a missing file, `ResponseTooLarge` for a body over the limit, and `FetchError` for
        all other failures.
        """
        request = Request(method=method, limit=limit, headers=headers or {}, accept_gzip=accept_gzip)
        return self.send(url, request, referrer=referrer)

    def send(self, url: str, request: Request, *, referrer: str = "") -> Response:
        """Send a request, with retries and redirects as for `get`."""
        policy = RetryPolicy(sanitize(url), self.settings.network_timeout)
        with self._backend.apply_policy(policy):
            for attempt in range(1, MAX_ATTEMPTS + 1):
                try:
                    return self._follow_redirects(url, referrer, request)
                except TransientError as error:
                    failed = f"{request.method} {sanitize(url)} failed"
                    self.note(f"{failed}, attempt {attempt} of {MAX_ATTEMPTS}: {error.reason}")
                    if attempt == MAX_ATTEMPTS:
                        raise error.to_error(url) from None
                    policy.pause(attempt, self.stop_event, status=error.status, retry_after=error.retry_after)
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover

    def _follow_redirects(self, url: str, referrer: str, request: Request) -> Response:
        # httpx could follow redirects itself, but each target has to be checked before it is contacted.
        current, previous = url, referrer
        for _ in range(MAX_REDIRECTS + 1):
            own = request if _origin(current) == _origin(url) else request.replace(headers={})
            try:
                self._check_server(current, previous)
                response = self._send(current, own, task=fetch_task(url))
            except (UnicodeError, httpx.HTTPError, httpx.InvalidURL) as error:
                raise translate_error(current, error) from None
            if response.status not in REDIRECT_STATUSES:
                check_status(url, response.status, response.headers, request.accepted)
                return response
            current, previous = resolve_redirect(current, response.headers.get("Location", "")), current
            if request.content and _origin(current) != _origin(previous):  # which may be a credential
                sender = sanitize(previous.partition("?")[0])
                raise FetchError(
                    f"{sender} redirects what was sent to it to another server: {sanitize(current)}",
                    hint="report it to the server's administrator; nothing was sent there",
                )
        raise FetchError(f"too many redirects fetching {sanitize(url)} (limit {MAX_REDIRECTS})", hint=REDIRECT_HINT)

    def _check_server(self, url: str, from_url: str) -> None:
        """Refuse a server that may not be contacted; `from_url` is the document or redirect that names it, if any."""
        self.destinations.require_allowed(url)
        host, failure = resolved_host(url), ""
        try:
            if from_url:
                self.destinations.check_reference(from_url, resolved_host(from_url), url, host)
            else:
                self.destinations.check(url, host)
        except OSError as error:
            failure = sanitize(error.strerror or str(error), 100)
        if is_insecure(url) and host_of(url) not in self.settings.insecure_hosts:
            raise FetchError(
                f"{sanitize(url)} uses plain HTTP, which can be tampered with in transit",
                where=f"from {sanitize(from_url)}" if from_url else "",
                hint=f"use https, or allow it with --allow-insecure-host {shell_word(host_of(url))}",
            )
        if failure and not self._backend.is_proxied(self._client, url):
            raise TransientError(f"cannot connect ({failure})")

    def _send(self, url: str, request: Request, *, task: str) -> Response:
        began = time.monotonic()
        auth = None if "Authorization" in request.headers else self._auth  # explicit ones replace those of ~/.netrc
        accepted = {"Accept-Encoding": "gzip"} if request.accept_gzip else {}
        headers = {**request.headers, **accepted}
        with self._client.stream(request.method, url, headers=headers, content=request.content, auth=auth) as response:
            body = b""
            if response.status_code not in REDIRECT_STATUSES:
                body = self._read_body(response, url, request.limit, accept_gzip=request.accept_gzip, task=task)
            took = (time.monotonic() - began) * 1000
            self.note(f"{request.method} {sanitize(url)} {response.status_code} {len(body)} bytes {took:.0f} ms")
            return Response(url=url, status=response.status_code, headers=response.headers, body=body)

    def _read_body(self, response: httpx.Response, url: str, limit: int, *, accept_gzip: bool, task: str) -> bytes:
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding not in {"identity", "gzip" if accept_gzip else "identity"}:
            raise FetchError(f"{sanitize(url)}: unexpected Content-Encoding: {sanitize(encoding, 40)}")
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isascii() and length.isdigit() and len(length) < MAX_LENGTH_DIGITS else 0
        body = bytearray()
        for chunk in response.iter_raw(CHUNK_SIZE):
            body += chunk
            if len(body) > limit:
                raise self._too_large_error(url, limit)
            if self.stop_event.is_set():
                raise FetchError("interrupted")
            self.reporter.update_task(task, "receiving", len(body), total)
        data = _decompress(bytes(body), url, limit) if body and encoding == "gzip" else bytes(body)
        if len(data) > limit:
            raise self._too_large_error(url, limit)
        return data

    def _too_large_error(self, url: str, limit: int) -> ResponseTooLarge:
        return ResponseTooLarge(url, limit, is_download_limit=limit == self.settings.limits.download)


def _decompress(body: bytes, url: str, limit: int) -> bytes:
    """Decompress up to one byte more than `limit`: httpx would decompress a bomb completely, and accept half a file."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            return file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FetchError(f"{sanitize(url)}: invalid gzip data: {error}") from None


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parsed = httpx.URL(url)
        host = parsed.host
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchError(f"invalid URL `{sanitize(url)}`: {sanitize(str(error), 100)}") from None
    return parsed.scheme, host, parsed.port
