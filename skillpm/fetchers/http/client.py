"""HTTP client: httpx, with limits on responses, retries, and rules for redirects.

A file is downloaded completely or not at all. Transient failures (lost connections, 429, 5xx) are retried. Redirects
never lead from https to http, nor from the internet to this machine or its network, and never carry credentials to
another host.
"""

import ssl
import time
import zlib
from collections.abc import Callable, Iterator
from threading import Event
from typing import BinaryIO

import httpx
import truststore

from skillpm.core.git_syntax import host_of, is_insecure
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError
from skillpm.fetchers.http.errors import ResponseTooLarge, TransientError, check_status, translate_error
from skillpm.fetchers.http.netrc import read_netrc
from skillpm.fetchers.http.proxies import CLIENT_ERRORS, proxy_error
from skillpm.fetchers.http.redirects import REDIRECT_HINT, resolve_redirect
from skillpm.fetchers.http.timeouts import TimeoutBackend
from skillpm.fetchers.retry import MAX_ATTEMPTS, RetryPolicy
from skillpm.settings import Settings

CHUNK_SIZE = 1 << 16


def iter_body(response: httpx.Response, url: str, *, accept_gzip: bool) -> Iterator[bytes]:
    """Yield the body in chunks. A compressed one is decompressed chunk by chunk, so a bomb hits the limit early."""
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding == "identity":
        yield from response.iter_raw(CHUNK_SIZE)
        return
    if not accept_gzip or encoding != "gzip":
        raise FetchError(f"{sanitize(url)}: unexpected Content-Encoding: {sanitize(encoding, 40)}")
    decompressor = zlib.decompressobj(wbits=31)  # with a gzip header
    try:
        for raw in response.iter_raw(CHUNK_SIZE):
            rest = raw
            while rest and not decompressor.eof:
                yield decompressor.decompress(rest, CHUNK_SIZE)
                rest = decompressor.unconsumed_tail
            if decompressor.unused_data:
                raise FetchError(f"{sanitize(url)}: unexpected data after the end of the gzip stream")
        yield decompressor.flush()
    except zlib.error as error:
        raise FetchError(f"{sanitize(url)}: invalid gzip data: {error}") from None
    if not decompressor.eof and response.status_code == 200:  # noqa: PLR2004  (others have no body)
        raise FetchError(f"{sanitize(url)}: the gzip stream is truncated")


MAX_CONNECT_TIMEOUT = 10.0
MAX_REDIRECTS = 5
REDIRECT_STATUSES = frozenset([301, 302, 303, 307, 308])


class Response(Value):
    """A complete response; `url` is the one after all redirects."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes


def _create_client(settings: Settings) -> httpx.Client:
    """Create the client. Raises `UsageError` for an unusable proxy in the environment."""
    try:
        return httpx.Client(
            verify=truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            timeout=httpx.Timeout(settings.idle_timeout, connect=min(MAX_CONNECT_TIMEOUT, settings.idle_timeout)),
            # Uncompressed by default: then the size limit is that of what is received.
            headers={"User-Agent": "skillpm", "Accept-Encoding": "identity"},
            follow_redirects=False,
        )
    except CLIENT_ERRORS as error:
        raise proxy_error(settings.environ, error) from error


class HttpClient:
    """The connection pool of a command. Trusts the system's certificates and uses the proxies of the environment."""

    def __init__(self, settings: Settings, note: Callable[[str], None]) -> None:
        self.settings = settings
        self.note = note
        self.stop_event = Event()
        self.request_count = 0
        self._client = _create_client(settings)
        self._backend = TimeoutBackend()
        self._backend.install(self._client)
        self._auth = read_netrc(settings)

    def get(
        self,
        url: str,
        *,
        limit: int,
        headers: dict[str, str] | None = None,
        method: str = "GET",
        output: BinaryIO | None = None,
    ) -> Response:
        """Download a file, or with `HEAD` only check that it exists. `headers` are sent to this host only.

        With `output` the body is written there while it arrives, possibly compressed in transit; the response's own
        body is then empty. Raises `NotFoundError` for a missing file, `ResponseTooLarge` for a body over the limit, and
        `FetchError` for all other failures.
        """
        policy = RetryPolicy(sanitize(url), self.settings.network_timeout)
        with self._backend.apply_policy(policy):
            for attempt in range(1, MAX_ATTEMPTS + 1):
                try:
                    return self._follow_redirects(url, limit, headers or {}, method, output)
                except TransientError as error:
                    self.note(f"{method} {sanitize(url)} failed, attempt {attempt} of {MAX_ATTEMPTS}: {error.reason}")
                    if attempt == MAX_ATTEMPTS:
                        raise error.to_error(url) from None
                    policy.pause(attempt, self.stop_event, status=error.status, retry_after=error.retry_after)
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _follow_redirects(
        self, url: str, limit: int, headers: dict[str, str], method: str, output: BinaryIO | None
    ) -> Response:
        # httpx could follow redirects itself, but each target has to be checked before it is contacted.
        current = url
        for _ in range(MAX_REDIRECTS + 1):
            if is_insecure(current) and host_of(current) not in self.settings.insecure_hosts:
                raise FetchError(
                    f"{sanitize(current)} uses plain HTTP, which can be tampered with in transit",
                    hint=f"use https, or allow it with --allow-insecure-host {host_of(current)}",
                )
            # They may hold credentials: only the origin that they were given for receives them.
            own_headers = headers if _origin(current) == _origin(url) else {}
            response = self._request(current, limit, own_headers, method, output)
            if response.status not in REDIRECT_STATUSES:
                check_status(url, response.status, response.headers)
                return response
            current = resolve_redirect(current, response.headers.get("Location", ""))
        raise FetchError(f"too many redirects fetching {sanitize(url)} (limit {MAX_REDIRECTS})", hint=REDIRECT_HINT)

    def _request(self, url: str, limit: int, headers: dict[str, str], method: str, output: BinaryIO | None) -> Response:
        try:
            return self._send(url, limit, headers, method, output)
        except (UnicodeError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise translate_error(url, error) from None

    def _send(self, url: str, limit: int, headers: dict[str, str], method: str, output: BinaryIO | None) -> Response:
        self.request_count += 1
        began = time.monotonic()
        auth = None if "Authorization" in headers else self._auth  # explicit credentials replace those of ~/.netrc
        encoding = {} if output is None else {"Accept-Encoding": "gzip"}
        with self._client.stream(method, url, headers={**headers, **encoding}, auth=auth) as response:
            body, size = bytearray(), 0
            if output is not None:
                output.seek(0)  # discard the body of a failed attempt or of a redirect
                output.truncate()
            if response.status_code not in REDIRECT_STATUSES:
                for chunk in iter_body(response, url, accept_gzip=output is not None):
                    size += len(chunk)
                    if size > limit:
                        raise ResponseTooLarge(url, limit)
                    if self.stop_event.is_set():
                        raise FetchError("interrupted")
                    if output is None:
                        body += chunk
                    else:
                        output.write(chunk)
            took = (time.monotonic() - began) * 1000
            self.note(f"{method} {sanitize(url)} {response.status_code} {size} bytes {took:.0f} ms")
            return Response(url=url, status=response.status_code, headers=response.headers, body=bytes(body))


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parsed = httpx.URL(url)
        host = parsed.host
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchError(f"invalid URL `{sanitize(url)}`: {sanitize(str(error), 100)}") from None
    return parsed.scheme, host, parsed.port
