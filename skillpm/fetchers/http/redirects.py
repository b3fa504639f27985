"""Rules for URLs received from a server, in a redirect or in a document: no downgrade to http, no local network."""

from contextlib import suppress

import httpx

from skillpm.core.git_syntax import host_of
from skillpm.core.netloc import host_problem
from skillpm.core.text import sanitize
from skillpm.errors import FetchError
from skillpm.fetchers.common.destinations import REDIRECT_HINT, Destinations


def resolve_redirect(from_url: str, location: str) -> str:
    """Return the target of a redirect. Raises `FetchError` for one that is not allowed; its address is not checked."""
    try:
        to_url = str(httpx.URL(from_url).join(location))
    except (httpx.InvalidURL, ValueError):
        raise _invalid_address_error(
            from_url, location, host_problem(host_of(location)) or "it cannot be parsed"
        ) from None
    _check_form(from_url, to_url)
    return to_url


def check_reference(from_url: str, to_url: str, destinations: Destinations) -> None:
    """Raise `FetchError` if a document at one URL may not point to another one.

    A host that does not resolve is checked when it is contacted.
    """
    _check_form(from_url, to_url)
    with suppress(OSError):
        destinations.check_reference(from_url, resolved_host(from_url), to_url, resolved_host(to_url))


def resolved_host(url: str) -> str:
    """Return the host of a URL as httpx resolves it: in ASCII, an IPv6 address without brackets."""
    return httpx.URL(url).raw_host.decode("ascii")


def _check_form(from_url: str, to_url: str) -> None:
    try:
        url = httpx.URL(to_url)
    except (httpx.InvalidURL, ValueError):
        raise _invalid_address_error(from_url, to_url, "it cannot be parsed") from None
    if url.scheme not in {"http", "https"} or not url.raw_host or url.userinfo:
        raise FetchError(
            f"{sanitize(from_url)} points to {sanitize(to_url)}, which is not a plain http or https URL",
            hint=REDIRECT_HINT,
        )
    if problem := host_problem(url.netloc.decode("ascii")):
        raise _invalid_address_error(from_url, to_url, problem)
    if httpx.URL(from_url).scheme == "https" and url.scheme == "http":
        raise FetchError(f"{sanitize(from_url)} points from https to http: {sanitize(to_url)}", hint=REDIRECT_HINT)


def _invalid_address_error(from_url: str, to_url: str, problem: str) -> FetchError:
    return FetchError(
        f"{sanitize(from_url)} points to an invalid URL `{sanitize(to_url)}`: {problem}", hint=REDIRECT_HINT
    )
