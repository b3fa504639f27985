"""What goes wrong between us and a web server, each as the error that says it to people.

`Passing` is none of them yet: it may be otherwise a moment later, and only its last try is told.
"""

import re

import httpx

from skillpm.core.git_syntax import host_of
from skillpm.core.text import show
from skillpm.errors import FetchError, NotFoundError
from skillpm.fetchers.http.redirects import ASTRAY
from skillpm.fetchers.retry import PASSING, TRIES

GONE = frozenset([404, 410])
REFUSED = frozenset([401, 403])
NO_WAY = "Invalid URL in location header"


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


class Passing(Exception):
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


def check_status(url: str, status: int, headers: httpx.Headers) -> None:
    """Raise what an answer means that is neither the file nor a redirect: `Passing`, `NotFoundError`, `FetchError`."""
    if status in PASSING:
        raise Passing(f"the server answers {status}", status=status, retry_after=headers.get("Retry-After", ""))
    if status in GONE:
        raise NotFoundError(f"{show(url)} is not there (the server answers {status})")
    if status == 407:  # noqa: PLR2004  (a proxy's own answer: RFC 9110, section 15.5.8)
        raise _unknown_to_the_proxy(url)
    if status in REFUSED:
        hint = f"give user and password for {host_of(url)} in ~/.netrc"
        raise Unwelcome(f"{show(url)}: the server wants other credentials (it answers {status})", hint=hint)
    if status not in {200, 304}:
        raise FetchError(f"{show(url)}: the server answers {status}")


def complaint(url: str, error: Exception) -> FetchError | Passing:
    """Give what a failure of httpx means, once it was asked for an address."""
    if isinstance(error, UnicodeError) or (isinstance(error, httpx.TransportError) and NO_WAY in str(error)):
        return _no_way(url, error)  # httpx reads where a redirect leads even if nobody follows it
    if not isinstance(error, httpx.TransportError):
        return FetchError(f"{show(url)}: {show(str(error), 100)}")
    if untrusted := re.search(r"certificate verify failed: ([^(\[]+)", str(error)):
        return _untrusted(url, untrusted[1])
    if isinstance(error, httpx.ProxyError) and str(error).startswith("407"):
        return _unknown_to_the_proxy(url)
    return Passing(_reason(error))


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
