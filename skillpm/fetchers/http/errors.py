"""What goes wrong between us and a web server, each as the error that says it to people.

`Passing` is none of them yet: it may be otherwise a moment later, and only its last try is told.
"""

import re

import httpx

from skillpm.core.git_syntax import host_of
from skillpm.core.text import sanitize
from skillpm.errors import FetchError, NotFoundError
from skillpm.fetchers.http.redirects import REDIRECT_HINT
from skillpm.fetchers.retry import MAX_ATTEMPTS, RETRYABLE_STATUSES

NOT_FOUND_STATUSES = frozenset([404, 410])
AUTH_STATUSES = frozenset([401, 403])
INVALID_LOCATION = "Invalid URL in location header"


class ResponseTooLarge(FetchError):
    """A server sends more than may come; `hint` names the setting that allows more."""

    def __init__(self, url: str, limit: int) -> None:
        super().__init__(
            f"{sanitize(url)} sends more than {limit} bytes", hint="if you trust it, raise SKILLPM_MAX_DOWNLOAD"
        )


class AuthenticationError(FetchError):
    """A server wants to know who asks, or other credentials than it got."""


class ServerUnreachable(FetchError):
    """A server could not be reached, or did not get over what it said was passing."""


class TransientError(Exception):
    """What may be otherwise a moment later: the line broke, or the server said so, with a status and perhaps a time."""

    def __init__(self, reason: str, *, status: int = 0, retry_after: str = "") -> None:
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
        super().__init__(reason)

    def to_error(self, url: str) -> FetchError:
        """Give the error that it is when it does not pass."""
        if self.status:
            return ServerUnreachable(f"{sanitize(url)}: {self.reason}, {MAX_ATTEMPTS} times", hint="try again later")
        return ServerUnreachable(f"{sanitize(url)}: {self.reason}", hint="try again, or look at your proxy")


def check_status(url: str, status: int, headers: httpx.Headers) -> None:
    """Raise what an answer means that is neither the file nor a redirect: `Passing`, `NotFoundError`, `FetchError`."""
    if status in RETRYABLE_STATUSES:
        raise TransientError(f"the server answers {status}", status=status, retry_after=headers.get("Retry-After", ""))
    if status in NOT_FOUND_STATUSES:
        raise NotFoundError(f"{sanitize(url)} is not there (the server answers {status})")
    if status == 407:  # noqa: PLR2004  (a proxy's own answer: RFC 9110, section 15.5.8)
        raise _proxy_login_error(url)
    if status in AUTH_STATUSES:
        hint = f"give user and password for {host_of(url)} in ~/.netrc"
        raise AuthenticationError(
            f"{sanitize(url)}: the server wants other credentials (it answers {status})", hint=hint
        )
    if status not in {200, 304}:
        raise FetchError(f"{sanitize(url)}: the server answers {status}")


def translate_error(url: str, error: Exception) -> FetchError | TransientError:
    """Give what a failure of httpx means, once it was asked for an address."""
    if isinstance(error, UnicodeError) or (isinstance(error, httpx.TransportError) and INVALID_LOCATION in str(error)):
        return _invalid_redirect_error(url, error)  # httpx reads where a redirect leads even if nobody follows it
    if not isinstance(error, httpx.TransportError):
        return FetchError(f"{sanitize(url)}: {sanitize(str(error), 100)}")
    if untrusted := re.search(r"certificate verify failed: ([^(\[]+)", str(error)):
        return _untrusted_certificate_error(url, untrusted[1])
    if isinstance(error, httpx.ProxyError) and str(error).startswith("407"):
        return _proxy_login_error(url)
    return TransientError(_failure_reason(error))


def _invalid_redirect_error(url: str, error: Exception) -> FetchError:
    fault = sanitize(str(error).removeprefix(f"{INVALID_LOCATION}: "), 100)
    return FetchError(f"{sanitize(url)} leads to a place which is no address: {fault}", hint=REDIRECT_HINT)


def _untrusted_certificate_error(url: str, reason: str) -> FetchError:
    return FetchError(
        f"{sanitize(url)}: the certificate of {host_of(url)} is not trusted ({sanitize(reason.strip(), 100)})",
        hint="if your company signs for it, give its CA: SSL_CERT_FILE=/path/to/ca.pem, or add it to the system",
    )


def _proxy_login_error(url: str) -> FetchError:
    hint = "they stand in https_proxy or http_proxy"
    return FetchError(f"the proxy on the way to {sanitize(url)} wants another user or password", hint=hint)


def _failure_reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "the server does not answer"
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return f"no connection ({sanitize(str(error), 100)})"
    if isinstance(error, httpx.NetworkError) or "disconnected" in str(error) or "closed" in str(error):
        return f"the answer broke off ({sanitize(str(error), 100)})"
    return f"this is no answer of a web server ({sanitize(str(error), 100)})"
