"""HTTP, the only place that speaks it: httpx, with limits on what comes and rules for where it may lead.

A file is taken whole or not at all. What passes by itself (a connection that breaks, 429, 5xx) is asked for again;
a redirect is followed only where it gives nothing away: never from https to http, never from the world into this
machine or its network, never with anybody's credentials to another host.
"""

import email.utils
import ipaddress
import os
import random
import re
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Iterator
from threading import Event
from typing import BinaryIO

import httpx
import truststore

from skillpm.documents.git_words import host_of, is_insecure
from skillpm.documents.text import show
from skillpm.errors import FetchError, NotFoundError
from skillpm.settings import Settings
from skillpm.values import Value

TRIES = 3
LONGEST_PAUSE = 30.0
MOST_REDIRECTS = 5
CHUNK = 1 << 16
ASTRAY = "tell whoever keeps that server; nothing was taken from there"
PASSING = frozenset([408, 425, 429, 500, 502, 503, 504])
REDIRECTS = frozenset([301, 302, 303, 307, 308])
GONE = frozenset([404, 410])
REFUSED = frozenset([401, 403])


class Answer(Value):
    """What a server gave: the address it came from in the end, its head, and the whole body."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes


class TooMuch(FetchError):
    """A server sends more than may come; `hint` names the setting that allows more."""

    def __init__(self, url: str, limit: int) -> None:
        super().__init__(
            f"{show(url)} sends more than {limit} bytes", hint="if you trust it, raise SKILLPM_MAX_DOWNLOAD"
        )


class Web:
    """One connection pool for a command. Certificates are the system's, proxies those of the environment."""

    def __init__(self, settings: Settings, note: Callable[[str], None]) -> None:
        self.settings = settings
        self.note = note
        self.stopped = Event()
        self.requests = 0
        self._client = httpx.Client(
            verify=truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            timeout=httpx.Timeout(20, connect=10),
            headers={"User-Agent": "skillpm", "Accept-Encoding": "identity"},
            follow_redirects=False,
        )
        self._netrc = _netrc(settings)

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
        for attempt in range(1, TRIES + 1):
            try:
                answer = self._followed(url, limit, headers or {}, method, into)
            except httpx.TransportError as error:
                if untrusted := re.search(r"certificate verify failed: ([^(\[]+)", str(error)):
                    raise _untrusted(url, untrusted[1]) from None
                self.note(f"{method} {show(url)} failed, try {attempt} of {TRIES}: {_reason(error)}")
                if attempt == TRIES:
                    hint = "try again, or look at your proxy"
                    raise FetchError(f"{show(url)}: {_reason(error)}", hint=hint) from None
                self._pause(attempt, "")
                continue
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise FetchError(f"{show(url)}: {show(str(error), 100)}") from None
            if answer.status not in PASSING:
                return _checked(answer, url)
            if attempt == TRIES:
                break
            self._pause(attempt, answer.headers.get("Retry-After", ""))
        raise FetchError(f"{show(url)}: the server answers {answer.status}, {TRIES} times", hint="try again later")

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
                return answer
            here = _lead(here, answer.headers.get("Location", ""))
        raise FetchError(f"{show(url)} leads on and on, over more than {MOST_REDIRECTS} redirects", hint=ASTRAY)

    def _asked(self, url: str, limit: int, headers: dict[str, str], method: str, into: BinaryIO | None) -> Answer:
        self.requests += 1
        began = time.monotonic()
        deadline = began + self.settings.network_timeout
        auth = None if "Authorization" in headers else self._netrc  # what was given for this host is meant
        accepted = {} if into is None else {"Accept-Encoding": "gzip"}
        with self._client.stream(method, url, headers={**headers, **accepted}, auth=auth) as response:
            body, size = bytearray(), 0
            if into is not None:
                into.seek(0)  # what came before a redirect, or before a connection broke, is nothing
                into.truncate()
            if response.status_code not in REDIRECTS:
                for chunk in _unpacked(response, url, is_packed=into is not None):
                    size += len(chunk)
                    if size > limit:
                        raise TooMuch(url, limit)
                    if time.monotonic() > deadline or self.stopped.is_set():
                        raise FetchError(f"{show(url)} takes longer than {self.settings.network_timeout:g} s")
                    if into is None:
                        body += chunk
                    else:
                        into.write(chunk)
            took = (time.monotonic() - began) * 1000
            self.note(f"{method} {show(url)} {response.status_code} {size} bytes {took:.0f} ms")
            return Answer(url=url, status=response.status_code, headers=response.headers, body=bytes(body))

    def _pause(self, attempt: int, retry_after: str) -> None:
        """Wait before the next try: as long as the server asks, else longer each time and never in step."""
        self.stopped.wait(min(LONGEST_PAUSE, _seconds(retry_after) or random.uniform(0.5, 1) * 0.5 * 2**attempt))  # noqa: S311


def _unpacked(response: httpx.Response, url: str, *, is_packed: bool) -> Iterator[bytes]:
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


def _checked(answer: Answer, url: str) -> Answer:
    if answer.status in GONE:
        raise NotFoundError(f"{show(url)} is not there (the server answers {answer.status})")
    if answer.status in REFUSED:
        hint = "credentials come from ~/.netrc, or for an index from SKILLPM_INDEX_<NAME>_TOKEN"
        raise FetchError(f"{show(url)}: the server wants other credentials (it answers {answer.status})", hint=hint)
    if answer.status not in {200, 304}:
        raise FetchError(f"{show(url)}: the server answers {answer.status}")
    return answer


def _lead(here: str, to: str) -> str:
    """Give where a redirect leads."""
    try:
        there = str(httpx.URL(here).join(to))
    except (httpx.InvalidURL, ValueError):
        raise _astray(here, to) from None
    check_lead(here, there)
    return there


def _astray(here: str, there: str) -> FetchError:
    return FetchError(f"{show(here)} leads to {show(there)}, which is no plain web address", hint=ASTRAY)


def check_lead(here: str, there: str) -> None:
    """Refuse an address that what stands at another one may not lead to, by a redirect or by name."""
    try:
        url = httpx.URL(there)
    except (httpx.InvalidURL, ValueError):
        raise _astray(here, there) from None
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo:
        raise _astray(here, there)
    if httpx.URL(here).scheme == "https" and url.scheme == "http":
        raise FetchError(f"{show(here)} leads from https to http: {show(there)}", hint=ASTRAY)
    if _is_private(url.host) and not _is_private(httpx.URL(here).host):
        raise FetchError(f"{show(here)} leads into this machine's own network: {show(there)}", hint=ASTRAY)


def _is_private(host: str) -> bool:
    """Tell whether a host is this machine or one of its network, by what its name means here and now."""
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return any(not ipaddress.ip_address(str(address).partition("%")[0]).is_global for address in found)


def _origin(url: str) -> tuple[str, str, int | None]:
    parsed = httpx.URL(url)
    return parsed.scheme, parsed.host, parsed.port


def _netrc(settings: Settings) -> httpx.Auth | None:
    """Give the credentials of `~/.netrc` (or `NETRC`), each for its own host."""
    path = settings.environ.get("NETRC") or os.path.join(settings.home, ".netrc")
    try:
        return httpx.NetRCAuth(path) if os.path.isfile(path) else None
    except (OSError, SyntaxError, UnicodeError) as error:
        raise FetchError(f"cannot read the credentials: {show(str(error), 100)}", where=path) from None


def _seconds(text: str) -> float:
    """Read a `Retry-After`: seconds, or a date."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _untrusted(url: str, reason: str) -> FetchError:
    return FetchError(
        f"{show(url)}: the certificate of {host_of(url)} is not trusted ({show(reason.strip(), 100)})",
        hint="if your company signs for it, give its CA: SSL_CERT_FILE=/path/to/ca.pem, or add it to the system",
    )


def _reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "the server does not answer"
    if isinstance(error, httpx.RemoteProtocolError):
        return f"the answer broke off ({show(str(error), 100)})"
    return f"no connection ({show(str(error), 100)})"
