"""HTTP, the only place that speaks it: httpx, with limits on what comes and rules for where it may lead.

A file is taken whole or not at all. What passes by itself (a connection that breaks, 429, 5xx) is asked for again;
a redirect is followed only where it gives nothing away: never from https to http, never from the world into this
machine or its network, never with anybody's credentials to another host.
"""

import netrc
import os
import re
import ssl
import time
import zlib
from collections.abc import Callable, Generator, Iterator
from threading import Event
from typing import BinaryIO

import httpx
import truststore

from skillpm.documents.git_words import host_of, is_insecure
from skillpm.documents.text import show
from skillpm.errors import FetchError, NotFoundError
from skillpm.fetching.leads import ASTRAY, lead
from skillpm.fetching.patience import PatientNetwork
from skillpm.fetching.proxies import UNUSABLE, bad_proxy
from skillpm.fetching.retrying import PASSING, TRIES, Patience
from skillpm.settings import Settings
from skillpm.values import Value

LONGEST_CONNECT = 10.0
MOST_REDIRECTS = 5
CHUNK = 1 << 16
REDIRECTS = frozenset([301, 302, 303, 307, 308])
GONE = frozenset([404, 410])
REFUSED = frozenset([401, 403])
NO_WAY = "Invalid URL in location header"


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


class Unwelcome(FetchError):
    """A server wants to know who asks, or other credentials than it got."""


class Silent(FetchError):
    """A server could not be reached, or did not get over what it said was passing."""


class _Passing(Exception):
    """What may be otherwise a moment later: the line broke, or the server said so, with a status and perhaps a time."""

    def __init__(self, reason: str, *, status: int = 0, retry_after: str = "") -> None:
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
        super().__init__(reason)

    def lasting(self, url: str) -> FetchError:
        """Give the error that it is when it does not pass."""
        if self.status:
            return Silent(f"{show(url)}: {self.reason}, {TRIES} times", hint="try again later")
        return Silent(f"{show(url)}: {self.reason}", hint="try again, or look at your proxy")


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
        patience = Patience(show(url), self.settings.network_timeout)
        with self._network.asking(patience):
            for attempt in range(1, TRIES + 1):
                try:
                    return _checked(self._followed(url, limit, headers or {}, method, into), url)
                except _Passing as passing:
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
                return answer
            here = lead(here, answer.headers.get("Location", ""))
        raise FetchError(f"{show(url)} leads on and on, over more than {MOST_REDIRECTS} redirects", hint=ASTRAY)

    def _asked(self, url: str, limit: int, headers: dict[str, str], method: str, into: BinaryIO | None) -> Answer:
        try:
            return self._answered(url, limit, headers, method, into)
        except UnicodeError as error:  # httpx reads where a redirect leads even if nobody follows it
            raise _no_way(url, error) from None
        except httpx.TransportError as error:
            if NO_WAY in str(error):
                raise _no_way(url, error) from None
            if untrusted := re.search(r"certificate verify failed: ([^(\[]+)", str(error)):
                raise _untrusted(url, untrusted[1]) from None
            if isinstance(error, httpx.ProxyError) and str(error).startswith("407"):
                raise _unknown_to_the_proxy(url) from None
            raise _Passing(_reason(error)) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise FetchError(f"{show(url)}: {show(str(error), 100)}") from None

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
                for chunk in _unpacked(response, url, is_packed=into is not None):
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
    if answer.status in PASSING:
        reason = f"the server answers {answer.status}"
        raise _Passing(reason, status=answer.status, retry_after=answer.headers.get("Retry-After", ""))
    if answer.status in GONE:
        raise NotFoundError(f"{show(url)} is not there (the server answers {answer.status})")
    if answer.status == 407:  # noqa: PLR2004  (a proxy's own answer: RFC 9110, section 15.5.8)
        raise _unknown_to_the_proxy(url)
    if answer.status in REFUSED:
        hint = f"give user and password for {host_of(url)} in ~/.netrc"
        raise Unwelcome(f"{show(url)}: the server wants other credentials (it answers {answer.status})", hint=hint)
    if answer.status not in {200, 304}:
        raise FetchError(f"{show(url)}: the server answers {answer.status}")
    return answer


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parsed = httpx.URL(url)
        host = parsed.host
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchError(f"`{show(url)}` is no address: {show(str(error), 100)}") from None
    return parsed.scheme, host, parsed.port


class _NetrcLogins(httpx.Auth):
    """The logins of a `.netrc`, each for its own host; `default`, which means every host there is, is left alone."""

    def __init__(self, path: str) -> None:
        hosts = netrc.netrc(path).hosts
        self.logins = {host: (user, password) for host, (user, _, password) in hosts.items() if host != "default"}

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Send a login only where it is meant for."""
        user, password = self.logins.get(request.url.host, ("", ""))
        if password:
            yield from httpx.BasicAuth(user or "", password).auth_flow(request)
        else:
            yield request


def _netrc(settings: Settings) -> httpx.Auth | None:
    """Give the credentials of `~/.netrc` (or `NETRC`)."""
    path = settings.environ.get("NETRC") or os.path.join(settings.home, ".netrc")
    try:
        return _NetrcLogins(path) if os.path.isfile(path) else None
    except (OSError, netrc.NetrcParseError, UnicodeError) as error:
        raise FetchError(f"cannot read the credentials: {show(str(error), 100)}", where=path) from None


def _no_way(url: str, error: Exception) -> FetchError:
    fault = show(str(error).removeprefix(f"{NO_WAY}: "), 100)
    return FetchError(f"{show(url)} leads to a place which is no address: {fault}", hint=ASTRAY)


def _untrusted(url: str, reason: str) -> FetchError:
    return FetchError(
        f"{show(url)}: the certificate of {host_of(url)} is not trusted ({show(reason.strip(), 100)})",
        hint="if your company signs for it, give its CA: SSL_CERT_FILE=/path/to/ca.pem, or add it to the system",
    )


def _unknown_to_the_proxy(url: str) -> FetchError:
    hint = "they stand in https_proxy or http_proxy"
    return FetchError(f"the proxy on the way to {show(url)} wants another user or password", hint=hint)


def _reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "the server does not answer"
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return f"no connection ({show(str(error), 100)})"
    if isinstance(error, httpx.NetworkError) or "disconnected" in str(error) or "closed" in str(error):
        return f"the answer broke off ({show(str(error), 100)})"
    return f"this is no answer of a web server ({show(str(error), 100)})"
