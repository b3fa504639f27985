"""HTTP, the only place that speaks it: httpx, with limits on what comes and rules for where it may lead.

A file is taken whole or not at all. What passes by itself (a connection that breaks, 429, 5xx) is asked for again;
a redirect is followed only where it gives nothing away: never from https to http, never from the world into this
machine or its network, never with anybody's credentials to another host.
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
    """Give the body piece by piece; a packed one is never unpacked further than the piece that is asked for."""
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding == "identity":
        yield from response.iter_raw(CHUNK_SIZE)
        return
    if not accept_gzip or encoding != "gzip":
        raise FetchError(f"{sanitize(url)} comes in an encoding that was not asked for")
    unpacking = zlib.decompressobj(wbits=31)
    try:
        for raw in response.iter_raw(CHUNK_SIZE):
            rest = raw
            while rest and not unpacking.eof:
                yield unpacking.decompress(rest, CHUNK_SIZE)
                rest = unpacking.unconsumed_tail
            if unpacking.unused_data:
                raise FetchError(f"{sanitize(url)}: there is more behind the end of what is packed")
        yield unpacking.flush()
    except zlib.error as error:
        raise FetchError(f"{sanitize(url)} is not what it is said to be, gzip: {error}") from None
    if not unpacking.eof and response.status_code == 200:  # noqa: PLR2004  (others come without a body)
        raise FetchError(f"{sanitize(url)}: the packed answer broke off")


MAX_CONNECT_TIMEOUT = 10.0
MAX_REDIRECTS = 5
REDIRECT_STATUSES = frozenset([301, 302, 303, 307, 308])


class Response(Value):
    """What a server gave: the address it came from in the end, its head, and the whole body."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes


def _create_client(settings: Settings) -> httpx.Client:
    """Make the client. Raises `UsageError` for a proxy of the environment that is none."""
    try:
        return httpx.Client(
            verify=truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            timeout=httpx.Timeout(settings.idle_timeout, connect=min(MAX_CONNECT_TIMEOUT, settings.idle_timeout)),
            headers={"User-Agent": "skillpm", "Accept-Encoding": "identity"},
            follow_redirects=False,
        )
    except CLIENT_ERRORS as error:
        raise proxy_error(settings.environ, error) from error


class HttpClient:
    """One connection pool for a command. Certificates are the system's, proxies those of the environment."""

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
        """Get a file whole, or with `HEAD` only learn that it is there. `headers` are for this host only.

        With `into` the body is written there as it comes, and may come packed; the answer's own is then empty.
        Raises `NotFoundError` for what is not there, `FetchError` for everything else that goes wrong, of it `TooMuch`
        for a body over the limit.
        """
        patience = RetryPolicy(sanitize(url), self.settings.network_timeout)
        with self._backend.apply_policy(patience):
            for attempt in range(1, MAX_ATTEMPTS + 1):
                try:
                    return self._follow_redirects(url, limit, headers or {}, method, output)
                except TransientError as passing:
                    self.note(f"{method} {sanitize(url)} failed, try {attempt} of {MAX_ATTEMPTS}: {passing.reason}")
                    if attempt == MAX_ATTEMPTS:
                        raise passing.to_error(url) from None
                    patience.pause(attempt, self.stop_event, status=passing.status, retry_after=passing.retry_after)
        raise AssertionError("the last try returns or raises")  # pragma: no cover

    def close(self) -> None:
        """End all connections."""
        self._client.close()

    def _follow_redirects(
        self, url: str, limit: int, headers: dict[str, str], method: str, output: BinaryIO | None
    ) -> Response:
        here = url
        for _ in range(MAX_REDIRECTS + 1):
            if is_insecure(here) and host_of(here) not in self.settings.insecure_hosts:
                raise FetchError(
                    f"{sanitize(here)} is plain http", hint=f"--allow-insecure-host {host_of(here)} allows it"
                )
            own = headers if _origin(here) == _origin(url) else {}
            answer = self._request(here, limit, own, method, output)
            if answer.status not in REDIRECT_STATUSES:
                check_status(url, answer.status, answer.headers)
                return answer
            here = resolve_redirect(here, answer.headers.get("Location", ""))
        raise FetchError(
            f"{sanitize(url)} leads on and on, over more than {MAX_REDIRECTS} redirects", hint=REDIRECT_HINT
        )

    def _request(self, url: str, limit: int, headers: dict[str, str], method: str, output: BinaryIO | None) -> Response:
        try:
            return self._send(url, limit, headers, method, output)
        except (UnicodeError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise translate_error(url, error) from None

    def _send(self, url: str, limit: int, headers: dict[str, str], method: str, output: BinaryIO | None) -> Response:
        self.request_count += 1
        began = time.monotonic()
        auth = None if "Authorization" in headers else self._auth  # what was given for this host is meant
        accepted = {} if output is None else {"Accept-Encoding": "gzip"}
        with self._client.stream(method, url, headers={**headers, **accepted}, auth=auth) as response:
            body, size = bytearray(), 0
            if output is not None:
                output.seek(0)  # what came before a redirect, or before a connection broke, is nothing
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
        raise FetchError(f"`{sanitize(url)}` is no address: {sanitize(str(error), 100)}") from None
    return parsed.scheme, host, parsed.port
