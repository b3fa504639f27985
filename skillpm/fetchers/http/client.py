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
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import FetchError
from skillpm.fetchers.http.errors import Passing, TooMuch, check_status, complaint
from skillpm.fetchers.http.netrc import logins
from skillpm.fetchers.http.proxies import UNUSABLE, bad_proxy
from skillpm.fetchers.http.redirects import ASTRAY, lead
from skillpm.fetchers.http.timeouts import PatientNetwork
from skillpm.fetchers.retry import TRIES, Patience
from skillpm.settings import Settings

CHUNK = 1 << 16


def unpacked(response: httpx.Response, url: str, *, is_packed: bool) -> Iterator[bytes]:
    """Give the body piece by piece; a packed one is never unpacked further than the piece that is asked for."""
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding == "identity":
        yield from response.iter_raw(CHUNK)
        return
    if not is_packed or encoding != "gzip":
        raise FetchError(f"{show(url)} comes in an encoding that was not asked for")
    unpacking = zlib.decompressobj(wbits=31)
    try:
        for raw in response.iter_raw(CHUNK):
            rest = raw
            while rest and not unpacking.eof:
                yield unpacking.decompress(rest, CHUNK)
                rest = unpacking.unconsumed_tail
            if unpacking.unused_data:
                raise FetchError(f"{show(url)}: there is more behind the end of what is packed")
        yield unpacking.flush()
    except zlib.error as error:
        raise FetchError(f"{show(url)} is not what it is said to be, gzip: {error}") from None
    if not unpacking.eof and response.status_code == 200:  # noqa: PLR2004  (others come without a body)
        raise FetchError(f"{show(url)}: the packed answer broke off")


LONGEST_CONNECT = 10.0
MOST_REDIRECTS = 5
REDIRECTS = frozenset([301, 302, 303, 307, 308])


class Answer(Value):
    """What a server gave: the address it came from in the end, its head, and the whole body."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes


def _client(settings: Settings) -> httpx.Client:
    """Make the client. Raises `UsageError` for a proxy of the environment that is none."""
    try:
        return httpx.Client(
            verify=truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            timeout=httpx.Timeout(settings.idle_timeout, connect=min(LONGEST_CONNECT, settings.idle_timeout)),
            headers={"User-Agent": "skillpm", "Accept-Encoding": "identity"},
            follow_redirects=False,
        )
    except UNUSABLE as error:
        raise bad_proxy(settings.environ, error) from error


class Web:
    """One connection pool for a command. Certificates are the system's, proxies those of the environment."""

    def __init__(self, settings: Settings, note: Callable[[str], None]) -> None:
        self.settings = settings
        self.note = note
        self.stopped = Event()
        self.requests = 0
        self._client = _client(settings)
        self._network = PatientNetwork()
        self._network.install(self._client)
        self._netrc = logins(settings)

    def get(
        self,
        url: str,
        *,
        limit: int,
        headers: dict[str, str] | None = None,
        method: str = "GET",
        into: BinaryIO | None = None,
    ) -> Answer:
        """Get a file whole, or with `HEAD` only learn that it is there. `headers` are for this host only.

        With `into` the body is written there as it comes, and may come packed; the answer's own is then empty.
        Raises `NotFoundError` for what is not there, `FetchError` for everything else that goes wrong, of it `TooMuch`
        for a body over the limit.
        """
        patience = Patience(show(url), self.settings.network_timeout)
        with self._network.asking(patience):
            for attempt in range(1, TRIES + 1):
                try:
                    return self._followed(url, limit, headers or {}, method, into)
                except Passing as passing:
                    self.note(f"{method} {show(url)} failed, try {attempt} of {TRIES}: {passing.reason}")
                    if attempt == TRIES:
                        raise passing.lasting(url) from None
                    patience.pause(attempt, self.stopped, status=passing.status, retry_after=passing.retry_after)
        raise AssertionError("the last try returns or raises")  # pragma: no cover

    def close(self) -> None:
        """End all connections."""
        self._client.close()

    def _followed(self, url: str, limit: int, headers: dict[str, str], method: str, into: BinaryIO | None) -> Answer:
        here = url
        for _ in range(MOST_REDIRECTS + 1):
            if is_insecure(here) and host_of(here) not in self.settings.insecure_hosts:
                raise FetchError(f"{show(here)} is plain http", hint=f"--allow-insecure-host {host_of(here)} allows it")
            own = headers if _origin(here) == _origin(url) else {}
            answer = self._asked(here, limit, own, method, into)
            if answer.status not in REDIRECTS:
                check_status(url, answer.status, answer.headers)
                return answer
            here = lead(here, answer.headers.get("Location", ""))
        raise FetchError(f"{show(url)} leads on and on, over more than {MOST_REDIRECTS} redirects", hint=ASTRAY)

    def _asked(self, url: str, limit: int, headers: dict[str, str], method: str, into: BinaryIO | None) -> Answer:
        try:
            return self._answered(url, limit, headers, method, into)
        except (UnicodeError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise complaint(url, error) from None

    def _answered(self, url: str, limit: int, headers: dict[str, str], method: str, into: BinaryIO | None) -> Answer:
        self.requests += 1
        began = time.monotonic()
        auth = None if "Authorization" in headers else self._netrc  # what was given for this host is meant
        accepted = {} if into is None else {"Accept-Encoding": "gzip"}
        with self._client.stream(method, url, headers={**headers, **accepted}, auth=auth) as response:
            body, size = bytearray(), 0
            if into is not None:
                into.seek(0)  # what came before a redirect, or before a connection broke, is nothing
                into.truncate()
            if response.status_code not in REDIRECTS:
                for chunk in unpacked(response, url, is_packed=into is not None):
                    size += len(chunk)
                    if size > limit:
                        raise TooMuch(url, limit)
                    if self.stopped.is_set():
                        raise FetchError("interrupted")
                    if into is None:
                        body += chunk
                    else:
                        into.write(chunk)
            took = (time.monotonic() - began) * 1000
            self.note(f"{method} {show(url)} {response.status_code} {size} bytes {took:.0f} ms")
            return Answer(url=url, status=response.status_code, headers=response.headers, body=bytes(body))


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parsed = httpx.URL(url)
        host = parsed.host
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchError(f"`{show(url)}` is no address: {show(str(error), 100)}") from None
    return parsed.scheme, host, parsed.port
