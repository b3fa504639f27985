"""Errors of HTTP requests: statuses and httpx exceptions, translated to messages.

`TransientError` is internal: the request is retried, and only the last failure becomes a message.
"""

import re

import httpx

from skillpm.core.git_syntax import host_of
from skillpm.core.text import sanitize
from skillpm.errors import FetchError, NotFoundError
from skillpm.fetchers.common.destinations import REDIRECT_HINT
from skillpm.fetchers.common.retry import IDLE_HINT, MAX_ATTEMPTS, RETRYABLE_STATUSES

NOT_FOUND_STATUSES = frozenset([404, 410])
AUTH_STATUSES = frozenset([401, 403])
SUCCESS_STATUSES = frozenset([200, 304])
NO_RESPONSE = "the server did not respond"
INVALID_LOCATION = "Invalid URL in location header"


class ResponseTooLarge(FetchError):
    """A response over the size limit, which the user can raise if it is that of downloads."""

    def __init__(self, url: str, limit: int, *, is_download_limit: bool) -> None:
        hint = "if you trust it, raise SKILLPM_MAX_DOWNLOAD" if is_download_limit else ""
        super().__init__(f"{sanitize(url)} sends more than {limit} bytes", hint=hint)


class AuthenticationError(FetchError):
    """A server that requires credentials, or rejects those it received. `challenge`: how to log in (RFC 9110)."""

    challenge = ""


class ServerUnreachable(FetchError):
    """A server that could not be reached, or that failed in every attempt."""


class TransientError(Exception):
    """A failure worth a retry: a lost connection, or a retryable status, perhaps with a `Retry-After`."""

    def __init__(self, reason: str, *, status: int = 0, retry_after: str = "") -> None:
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
        super().__init__(reason)

    def to_error(self, url: str) -> FetchError:
        """Return the error for the user after the last attempt."""
        if self.status:
            return ServerUnreachable(
                f"{sanitize(url)}: {self.reason} ({MAX_ATTEMPTS} attempts)", hint="try again later"
            )
        if self.reason == NO_RESPONSE:
            return ServerUnreachable(f"{sanitize(url)}: {self.reason} ({MAX_ATTEMPTS} attempts)", hint=IDLE_HINT)
        return ServerUnreachable(f"{sanitize(url)}: {self.reason}", hint="try again, or check your proxy")


def check_status(url: str, status: int, headers: httpx.Headers, accepted: frozenset[int] = SUCCESS_STATUSES) -> None:
    """Raise `TransientError`, `NotFoundError` or `FetchError` for any status that is not accepted."""
    if status in RETRYABLE_STATUSES:
        raise TransientError(
            f"the server returned HTTP {status}", status=status, retry_after=headers.get("Retry-After", "")
        )
    if status in NOT_FOUND_STATUSES:
        raise NotFoundError(f"{sanitize(url)} does not exist (HTTP {status})")
    if status == 407:  # noqa: PLR2004  (a proxy's own answer: RFC 9110, section 15.5.8)
        raise _proxy_login_error(url)
    if status in AUTH_STATUSES:
        hint = f"add a user and password for {host_of(url)} to ~/.netrc"
        error = AuthenticationError(f"{sanitize(url)}: access denied (HTTP {status})", hint=hint)
        error.challenge = headers.get("WWW-Authenticate", "")
        raise error
    if status not in accepted:
        raise FetchError(f"{sanitize(url)}: the server returned HTTP {status}")


def translate_error(url: str, error: Exception) -> FetchError | TransientError:
    """Return the error for an exception of httpx."""
    if isinstance(error, UnicodeError) or (isinstance(error, httpx.TransportError) and INVALID_LOCATION in str(error)):
        return _invalid_redirect_error(url, error)  # httpx parses `Location` even if it does not follow it
    if not isinstance(error, httpx.TransportError):
        return FetchError(f"{sanitize(url)}: {sanitize(str(error), 100)}")
    if untrusted := re.search(r"certificate verify failed: ([^(\[]+)", str(error)):
        return _untrusted_certificate_error(url, untrusted[1])
    if isinstance(error, httpx.ProxyError) and str(error).startswith("407"):
        return _proxy_login_error(url)
    return TransientError(_failure_reason(error))


def _invalid_redirect_error(url: str, error: Exception) -> FetchError:
    problem = sanitize(str(error).removeprefix(f"{INVALID_LOCATION}: "), 100)
    return FetchError(f"{sanitize(url)} redirects to an invalid URL: {problem}", hint=REDIRECT_HINT)


def _untrusted_certificate_error(url: str, reason: str) -> FetchError:
    return FetchError(
        f"{sanitize(url)}: the certificate of {host_of(url)} is not trusted ({sanitize(reason.strip(), 100)})",
        hint="if your company issued it, set SSL_CERT_FILE=/path/to/ca.pem, or add its CA to the system",
    )


def _proxy_login_error(url: str) -> FetchError:
    hint = "check the user and password in https_proxy or http_proxy"
    return FetchError(f"proxy authentication required for {sanitize(url)}", hint=hint)


def _failure_reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return NO_RESPONSE
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        reason = re.sub(r"^\[Errno -?[0-9]+\] ", "", str(error))
        return f"cannot connect ({sanitize(reason, 100)})"
    if isinstance(error, httpx.NetworkError) or "disconnected" in str(error) or "closed" in str(error):
        return f"the connection was lost ({sanitize(str(error), 100)})"
    return f"invalid HTTP response ({sanitize(str(error), 100)})"
